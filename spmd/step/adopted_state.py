"""State that a step makes for good at its first call, such as an optimizer's slots, without another trace.

Such variables are not there when the step looks for its state. When they are made, the step *adopts* them: an
operation stands for the value that each will have when the program starts. After the trace they are found, and
`with_adopted_state` puts inputs in place of these operations: what comes out is the program of a step that has found
them before.
"""

import contextlib
from collections.abc import Callable, Generator, Sequence
from typing import Any

import jax
from jax.core import Tracer
from jax.extend.core import ClosedJaxpr, Primitive, jaxpr_as_fun

from spmd import _jax_internals
from spmd.replica import computing_at_once
from spmd.state import Kind, StateTable
from spmd.typing import LibraryVariable

# It has no rule that computes it, so that no code takes the value of the first call for that of each.
_adopted = Primitive("adopted_state")
_adopted.def_abstract_eval(lambda first, index: first)


class AdoptedState:
    """The variables of one trace that become state.

    Attributes:
        variables: in the order in which they were adopted.
    """

    def __init__(
        self, table: StateTable, made: list[tuple[LibraryVariable, Callable[[], None]]]
    ) -> None:
        """Starts with none; call it in the trace of a replica's program, before the step's code runs.

        Args:
            table: the state that the step found.
            made: see `Frame`, which is not passed itself: a cycle would keep the first values of the variables.
        """
        self.variables: list[LibraryVariable] = []
        self._table, self._made, self._trace = table, made, _jax_internals.trace_state()

    @contextlib.contextmanager
    def making(self) -> Generator[None]:
        """Adopts the variables that the code inside makes, which runs at the step's first call only.

        If that code writes other state, or stands in a loop, a branch or a tape, adopts none: the step has to be
        traced again. What it writes to the variables that it makes is their initial value all the same.
        """
        before, count = self._table.read(), len(self._made)
        with computing_at_once():
            yield
        made = StateTable.of([variable for variable, _ in self._made[count:]])
        if not made.slots:
            return
        values = made.read()
        variable, leave = self._made[-1]

        def leave_written() -> None:
            leave()
            made.put(values)

        self._made[-1] = variable, leave_written
        if (
            self._trace == _jax_internals.trace_state()
            and not _jax_internals.is_interposed()
            and self._table.holds(before)
            and len(values) == len(made.slots)
            and all(isinstance(value, jax.Array) for value in values)
            and not any(isinstance(value, Tracer) for value in values)
            and all(slot.kind is Kind.MIRRORED for slot in made.slots)
        ):
            first = len(self.variables)
            made.put([_adopted.bind(value, index=first + i) for i, value in enumerate(values)])
            self.variables += made.variables

    def read(self) -> list[Any]:
        """Reads the values that the step leaves in the variables."""
        return StateTable.of(self.variables).read()


def with_adopted_state(
    program: ClosedJaxpr,
    adopted: Sequence[LibraryVariable],
    before: StateTable,
    after: StateTable,
) -> Callable[[Sequence[jax.Array], Sequence[jax.Array]], list[Any]] | None:
    """Makes a replica's program take adopted state, as if the step had found it before it was traced.

    Args:
        program: of one replica. Its first inputs and outputs are the state of `before`; its last outputs are
            what `AdoptedState.read` gave.
        adopted: the variables that became state, in the order of `AdoptedState`.
        before: the state that the step found at first.
        after: the state that it finds now.

    Returns:
        Takes the state of `after` and the other inputs; gives its new values and the other outputs. None if
        that is not what another trace would give: the step finds other state, too, or does not find some of this.
    """
    jaxpr = program.jaxpr
    made = {eqn.params["index"]: eqn.outvars[0] for eqn in jaxpr.eqns if eqn.primitive is _adopted}
    size = before.size
    spans = {id(slot.variable): range(size)[slot.span] for slot in before.slots}
    spans |= {id(variable): range(size + i, size + i + 1) for i, variable in enumerate(adopted)}
    if set(spans) != {id(variable) for variable in after.variables} or len(made) < len(adopted):
        return None
    order = [index for slot in after.slots for index in spans[id(slot.variable)]]
    inputs = [*jaxpr.invars[:size], *(made[index] for index in range(len(adopted)))]
    others = slice(size, len(jaxpr.outvars) - len(adopted))
    outputs = [*jaxpr.outvars[:size], *jaxpr.outvars[others.stop :]]
    run = jaxpr_as_fun(
        program.replace(
            jaxpr=jaxpr.replace(
                invars=[*(inputs[index] for index in order), *jaxpr.invars[size:]],
                outvars=[*(outputs[index] for index in order), *jaxpr.outvars[others]],
                eqns=[eqn for eqn in jaxpr.eqns if eqn.primitive is not _adopted],
                debug_info=jaxpr.debug_info.with_unknown_names(),
            )
        )
    )
    return lambda state, rest: run(*state, *rest)
