"""Regions: parts of a step that are traced by themselves, with the state that they write.

`jax.lax.cond` and its like take pure functions. Code in a step is not pure: it assigns variables, steps optimizers and
updates metrics. So a *region*, such as a branch, is traced into a program of its own, and the variables that it
wrote become results of that program. Outside of a step there is no state to carry.
"""

import contextlib
import dataclasses
import itertools
from collections.abc import Callable, Generator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun

from spmd.errors import ControlFlowError
from spmd.replica import current_frame
from spmd.state import StateTable
from spmd.step.state_views import trace_identity
from spmd.typing import PyTree, TreeStructure


@dataclasses.dataclass(frozen=True)
class Region:
    """Code that was traced by itself.

    Attributes:
        program: takes the leaves of its arguments, and the state if it is carried; returns the leaves of its result,
            then the state.
        structure: of the result.
        written: indices of the leaves of the state that it wrote.
        state: how many leaves of the state the program takes.
    """

    program: ClosedJaxpr
    structure: TreeStructure
    written: frozenset[int]
    state: int

    @property
    def results(self) -> list[jax.ShapeDtypeStruct]:
        """Shapes and types of the result's leaves."""
        avals: Sequence[Any] = self.program.out_avals[: self.structure.num_leaves]
        return [jax.ShapeDtypeStruct(a.shape, a.dtype, weak_type=a.weak_type) for a in avals]

    @property
    def used_state(self) -> frozenset[int]:
        """Indices of the leaves of the state that an operation takes, if the program takes the state."""
        jaxpr = self.program.jaxpr
        state = jaxpr.invars[len(jaxpr.invars) - self.state :]
        taken = {id(atom) for equation in jaxpr.eqns for atom in equation.invars}
        taken |= set(map(id, jaxpr.outvars[: self.structure.num_leaves]))
        return frozenset(index for index, variable in enumerate(state) if id(variable) in taken)

    def with_constants(self, constants: Sequence[Any]) -> "Region":
        """Returns the region with other arrays in place of those that its code closes over."""
        return dataclasses.replace(self, program=ClosedJaxpr(self.program.jaxpr, list(constants)))

    def __call__(self, *values: Any) -> tuple[list[Any], list[Any]]:
        """Runs the code in the trace that is current.

        Args:
            *values: what the program takes.

        Returns:
            The leaves of its result, and all leaves of the state.
        """
        found = list(map(jnp.asarray, jaxpr_as_fun(self.program)(*values)))
        return found[: self.structure.num_leaves], found[self.structure.num_leaves :]


class RegionState:
    """The state that a region may write: what the step found, and the variables that it has made so far.

    Attributes:
        before: the leaves of the state as they are before the region.
    """

    def __init__(self) -> None:
        """Reads the state as it is now."""
        self._frame = current_frame()
        self._tables: list[StateTable] = []
        self._adopted = 0
        self.before: list[Any] = []
        if self._frame is not None:
            table = self._frame.table
            assert isinstance(table, StateTable)
            self._tables, self.before = [table], table.read()
            self._adopt()

    def _adopt(self) -> None:
        """Takes in the variables that the step has made since."""
        if self._frame is None:
            return
        known = {id(one) for table in self._tables for one in table.variables}
        made = [one for one, _ in self._frame.made[self._adopted :] if id(one) not in known]
        self._adopted = len(self._frame.made)
        table = StateTable.of(made)
        self._tables.append(table)
        self.before += table.read()

    def trace(
        self, code: Callable[..., PyTree], arguments: Sequence[Any], *, carried: bool = False
    ) -> Region:
        """Traces code by itself; it is called once.

        Args:
            code: takes the arguments, and returns a pytree of arrays.
            arguments: arrays, or descriptions of arrays.
            carried: whether the program takes the state, after the arguments; else it starts from `before`.
        """
        structure = jax.tree.structure(None)
        written = frozenset[int]()
        count, state = len(arguments), len(self.before) if carried else 0

        def run(*values: Any) -> list[Any]:
            nonlocal structure, written
            held = list(values[count:]) if carried else self.before
            with self._lifted(held):
                out, structure = jax.tree.flatten(code(*values[:count]))
                after = self._read()
            pairs = enumerate(zip(held, after, strict=True))
            written = frozenset(index for index, (old, new) in pairs if new is not old)
            return [*map(jnp.asarray, out), *map(self._checked, range(len(after)), after)]

        with trace_identity(object()):
            program = jax.make_jaxpr(run)(*arguments, *(self.before if carried else ()))
        self._keep_made()
        return Region(program, structure, written, state)

    def write(self, indices: Sequence[int], leaves: Sequence[Any]) -> None:
        """Writes some leaves of the state, as assignments would.

        Args:
            indices: which ones.
            leaves: their values.
        """
        values, first = dict(zip(indices, leaves, strict=True)), 0
        for table in self._tables:
            table.assign({index - first: leaf for index, leaf in values.items() if index >= first})
            first += table.size

    def _read(self) -> list[Any]:
        return list(itertools.chain.from_iterable(table.read() for table in self._tables))

    def _checked(self, index: int, after: Any) -> Any:
        """Gives a leaf that a region leaves behind the type that it had, as far as that is the same."""
        before = self.before[index]
        if jnp.shape(after) != jnp.shape(before) or after.dtype != before.dtype:
            names = itertools.chain.from_iterable(table.leaf_names for table in self._tables)
            raise ControlFlowError(
                f"A branch or loop changes {list(names)[index]} from {before.dtype}{list(jnp.shape(before))} to "
                f"{after.dtype}{list(jnp.shape(after))}. A variable keeps its shape and type there: cast or reshape "
                "what it is given."
            )
        return strong(after)

    @contextlib.contextmanager
    def _lifted(self, leaves: Sequence[Any]) -> Generator[None]:
        rest = iter(leaves)
        with contextlib.ExitStack() as stack:
            for table in self._tables:
                values = list(itertools.islice(rest, table.size))
                stack.enter_context(table.lifted(values))
            yield

    def _keep_made(self) -> None:
        """Gives variables that a region made a value which the code after it can read and write.

        Which one does not matter: if that code can reach them, the step is traced again, with them as state.
        """
        frame = self._frame
        if frame is None or len(frame.made) == self._adopted:
            return
        (variable, leave), *others = frame.made[self._adopted :]
        table = StateTable.of([variable, *(other for other, _ in others)])
        stack = contextlib.ExitStack()
        stack.callback(leave)
        values = [jnp.zeros(jnp.shape(leaf), leaf.dtype) for leaf in table.read()]
        stack.enter_context(table.lifted(values))
        frame.made[self._adopted] = variable, stack.close
        self._adopt()


def strong(value: Any) -> Any:
    """Makes an array, or a number, an array whose type does not give way to others."""
    array = jnp.asarray(value)
    return (
        jax.lax.convert_element_type(array, array.dtype)
        if getattr(array, "weak_type", False)
        else array
    )
