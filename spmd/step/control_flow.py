"""Branches and loops that a traced value decides: `jax.lax`'s, for code that writes state.

Variables, optimizers and metrics that a branch or loop changes keep the rules of their kind, and the proof that
replicas stay equal looks into them.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from spmd.errors import ControlFlowError
from spmd.proof import calls_the_host
from spmd.step import python_control_flow
from spmd.step.regions import Region, RegionState, strong
from spmd.step.reversal import refuse_gradient, repeat
from spmd.typing import PyTree


def cond(pred: Any, true_fn: Callable[[], PyTree], false_fn: Callable[[], PyTree]) -> PyTree:
    """Runs one of two functions, as a value decides; both may write state.

    Args:
        pred: bool scalar.
        true_fn: returns a pytree of arrays; called once, to be traced.
        false_fn: likewise. Its result has the same structure, shapes and types.

    Returns:
        The result of the function that ran.

    Raises:
        ControlFlowError: the results differ in structure, shape or type; or a variable changes its own.

    Examples:
        >>> import jax.numpy as jnp, spmd
        >>> total = spmd.Variable(jnp.float32(0))
        >>> def add(x):
        ...     total.value = total.value + x
        ...     return x
        >>> step = spmd.Step(
        ...     lambda x: spmd.step.cond(x > 0, lambda: add(x), lambda: -x),
        ...     spmd.make_mesh(["cpu:0"]),
        ... )
        >>> [float(step(jnp.float32(x))) for x in (2, -3)], float(total.value)
        ([2.0, 3.0], 2.0)

    Source: `jax.lax.cond`, `tf.cond`.
    """
    return switch(~_truth(pred), [true_fn, false_fn])


def switch(
    index: Any,
    branches: Sequence[Callable[[], PyTree]],
    *,
    agree: Callable[[], Sequence[Callable[[PyTree], PyTree]]] | None = None,
) -> PyTree:
    """Runs one of several functions, as a number decides; all may write state.

    Args:
        index: integer or bool scalar; one out of range counts as the nearest that is in it.
        branches: functions as for `cond`; each is called once, in order.
        agree: called when all branches were traced. Returns, for each of them, a function that converts its result
            to what all return. None requires that the results are alike.

    Returns:
        The result of the function that ran.

    Raises:
        ControlFlowError: as for `cond`.

    Examples:
        >>> import jax.numpy as jnp
        >>> int(switch(jnp.int32(1), [lambda: jnp.int32(7), lambda: jnp.int32(8)]))
        8

    Source: `jax.lax.switch`, `tf.switch_case`.
    """
    if python_control_flow.runs_as_python():
        return python_control_flow.switch(index, branches)
    state = RegionState()
    regions = [state.trace(branch, ()) for branch in branches]
    conversions: Sequence[Callable[[PyTree], PyTree]]
    conversions = _alike(regions) if agree is None else agree()
    written = sorted(frozenset[int]().union(*(region.written for region in regions)))
    structure = jax.tree.structure(None)

    def run(region: Region, convert: Callable[[PyTree], PyTree]) -> Callable[[], list[Any]]:
        def call() -> list[Any]:
            nonlocal structure
            leaves, after = region()
            after += state.before[len(after) :]  # a later branch made more variables
            result = convert(region.structure.unflatten(leaves))
            leaves, structure = jax.tree.flatten(result)
            return [*map(strong, leaves), *(after[i] for i in written)]

        return call

    calls = [run(*pair) for pair in zip(regions, conversions, strict=True)]
    found: list[Any] = jax.lax.switch(jnp.asarray(index).astype(jnp.int32), calls)
    count = structure.num_leaves
    state.write(written, found[count:])
    return structure.unflatten(found[:count])


def while_loop(
    test: Callable[[PyTree], Any],
    body: Callable[[PyTree], tuple[PyTree, PyTree]],
    carry: PyTree,
    *,
    bound: int | None = None,
) -> tuple[PyTree, PyTree]:
    """Repeats a function while a test holds; both may write state.

    Args:
        test: takes the carry, returns a bool scalar; called twice, to be traced.
        body: takes the carry, returns the next one, of the same structure, shapes and types, and a pytree of
            other arrays. Called once, to be traced.
        carry: pytree of arrays.
        bound: how often the body runs at most. With a bound the values of all turns are kept for a gradient, which
            takes the memory of that many turns. Without one they are computed again, which takes time (see
            `spmd.step.reversal`), and a loop that calls the host has no gradient: asking for it raises
            ControlFlowError.

    Returns:
        The last carry, and the other arrays of the last turn, which are zeros if there was none.

    Raises:
        ControlFlowError: the body changes the structure, a shape or a type of the carry; or a variable its own.

    Examples:
        >>> import jax.numpy as jnp
        >>> last, _ = while_loop(lambda x: x < 100, lambda x: (x * 2, None), jnp.int32(1))
        >>> int(last)
        128

    Source: `jax.lax.while_loop`, `tf.while_loop`.
    """
    if python_control_flow.runs_as_python():
        return python_control_flow.while_loop(test, body, carry)
    goes_on = _truth(test(carry))
    loop = _Loop(lambda now, _: (*body(now), None), carry, None, test)
    start = (goes_on, loop.start)
    if bound is None:
        return loop.finish(loop.repeat(goes_on))

    def turn(now: Any, _: None) -> tuple[Any, None]:
        return jax.lax.cond(now[0], lambda: loop.turn(now[1])[:2], lambda: now), None

    (_, last), _ = jax.lax.scan(turn, start, length=bound)
    return loop.finish(last)


def scan(
    body: Callable[[PyTree, PyTree], tuple[PyTree, PyTree, PyTree]],
    carry: PyTree,
    rows: PyTree,
    *,
    test: Callable[[PyTree], Any] | None = None,
    reverse: bool = False,
) -> tuple[PyTree, PyTree, PyTree]:
    """Calls a function with every row of arrays, one after another; it may write state.

    Args:
        body: takes the carry and a row, returns the next carry, of the same structure, shapes and types; a pytree
            of other arrays; and a pytree of arrays to stack. Called once, to be traced.
        carry: pytree of arrays.
        rows: pytree of arrays with as many rows each.
        test: takes the carry, returns a bool scalar; the loop ends where it is False, before the first row, too.
            What would be stacked of the rows that are left out is zeros.
        reverse: whether to begin with the last row.

    Returns:
        The last carry; the other arrays of the last turn, which are zeros if there was none; and what was stacked.

    Raises:
        ControlFlowError: as for `while_loop`.

    Examples:
        >>> import jax.numpy as jnp
        >>> total, _, sums = scan(lambda t, x: (t + x, None, t + x), jnp.int32(0), jnp.arange(4))
        >>> int(total), sums.tolist()
        (6, [0, 1, 3, 6])

    Source: `jax.lax.scan`.
    """
    if python_control_flow.runs_as_python():
        return python_control_flow.scan(body, carry, rows, test, reverse)
    goes_on = jnp.bool_(True) if test is None else _truth(test(carry))
    row = jax.tree.map(lambda array: jax.ShapeDtypeStruct(array.shape[1:], array.dtype), rows)
    loop = _Loop(body, carry, row, test)
    zeros = [jnp.zeros(each.shape, each.dtype) for each in jax.tree.leaves(loop.stacked)]

    def turn(now: Any, row: PyTree) -> Any:
        def run() -> Any:
            goes_on, values, stacked = loop.turn(now[1], row)
            return (goes_on, values), stacked

        return run() if test is None else jax.lax.cond(now[0], run, lambda: (now, zeros))

    (_, last), stacked = jax.lax.scan(turn, (goes_on, loop.start), rows, reverse=reverse)
    return *loop.finish(last), jax.tree.unflatten(jax.tree.structure(loop.stacked), stacked)


class _Loop:
    """The body of a loop, traced, and what goes from turn to turn: the carry, the other arrays, the state.

    Attributes:
        start: what goes into the first turn.
        stacked: shapes and types of what the body stacks.
    """

    def __init__(
        self,
        body: Callable[[PyTree, PyTree], tuple[PyTree, PyTree, PyTree]],
        carry: PyTree,
        row: PyTree,
        test: Callable[[PyTree], Any] | None,
    ) -> None:
        leaves, self._structure = jax.tree.flatten(carry)
        self._carry = list(map(strong, leaves))
        paths = jax.tree_util.tree_leaves_with_path(carry)
        self._paths = [jax.tree_util.keystr(path) for path, _ in paths]
        rows, structure = jax.tree.flatten(row)
        count = len(leaves)

        def turn(*values: Any) -> PyTree:
            now = self._structure.unflatten(values[:count])
            new, other, stacked = body(now, structure.unflatten(values[count:]))
            goes_on = jnp.bool_(True) if test is None else _truth(test(new))
            return self._checked(new), other, stacked, goes_on

        self._state = RegionState()
        # The body may make variables: they are no part of the state that it takes.
        self._found = len(self._state.before)
        self._region = self._state.trace(turn, [*self._carry, *rows], carried=True)
        self._written = sorted(self._region.written)
        _, self._other, self.stacked, _ = self._region.structure.unflatten(self._region.results)
        others = [jnp.zeros(each.shape, each.dtype) for each in jax.tree.leaves(self._other)]
        self.start = self._carry, others, [self._state.before[i] for i in self._written]

    def turn(self, values: Any, row: PyTree = None) -> tuple[Any, Any, list[Any]]:
        """Takes a turn.

        Returns:
            Whether the loop goes on, what goes into the next turn, and what to stack.
        """
        return self._turn(self._region, self._state.before[: self._found], values, row)

    def repeat(self, goes_on: Any) -> Any:
        """Takes turns until the test fails, however many there are.

        Args:
            goes_on: whether to take the first one.

        Returns:
            What the last one left, as for `finish`.
        """
        program = self._region.program
        before = self._state.before[: self._found]
        used = sorted(self._region.used_state & set(range(self._found)))
        leaves, structure = jax.tree.flatten(self.start)

        def turn(constants: Sequence[Any], now: Sequence[Any]) -> tuple[Any, list[Any]]:
            state = list(before)
            for index, leaf in zip(used, constants, strict=False):
                state[index] = leaf
            region = self._region.with_constants(constants[len(used) :])
            going, new, _ = self._turn(region, state, structure.unflatten(now), None)
            return going, jax.tree.leaves(new)

        constants = [jnp.asarray(one) for one in ([before[i] for i in used] + list(program.consts))]
        if calls_the_host(program.jaxpr):
            _, last = jax.lax.while_loop(
                lambda now: now[0], lambda now: turn(constants, now[1]), (goes_on, leaves)
            )
            last = refuse_gradient(last)
        else:
            last = repeat(turn, constants, goes_on, leaves)
        return structure.unflatten(last)

    def _turn(
        self, region: Region, before: Sequence[Any], values: Any, row: PyTree
    ) -> tuple[Any, Any, list[Any]]:
        carry, _, held = values
        state = list(before)
        for index, leaf in zip(self._written, held, strict=True):
            state[index] = leaf
        leaves, after = region(*carry, *jax.tree.leaves(row), *state)
        new, other, stacked, goes_on = self._region.structure.unflatten(leaves)
        held = [after[index] for index in self._written]
        others = list(map(strong, jax.tree.leaves(other)))
        return goes_on, (new, others, held), list(map(strong, jax.tree.leaves(stacked)))

    def finish(self, values: Any) -> tuple[PyTree, PyTree]:
        """Writes the state of the last turn, and returns the carry and the other arrays."""
        carry, others, held = values
        self._state.write(self._written, held)
        structure = jax.tree.structure(self._other)
        return self._structure.unflatten(carry), structure.unflatten(others)

    def _checked(self, carry: PyTree) -> list[Any]:
        leaves, structure = jax.tree.flatten(carry)
        if structure != self._structure:
            raise ControlFlowError(
                f"The body of a loop changes the structure of its carry from {self._structure} to {structure}. "
                "Return the same structure."
            )
        new = list(map(strong, leaves))
        for path, old, leaf in zip(self._paths, self._carry, new, strict=True):
            if leaf.shape != old.shape or leaf.dtype != old.dtype:
                raise ControlFlowError(
                    f"The body of a loop changes its carry{path} from {_text(old)} to {_text(leaf)}. Start with an "
                    "array of the shape and type that the body returns, or cast there."
                )
        return new


def _truth(value: Any) -> jax.Array:
    return jnp.asarray(value).astype(bool).reshape(())


def _alike(regions: Sequence[Region]) -> list[Callable[[PyTree], PyTree]]:
    """Checks that the results of regions are alike, and makes their types the same."""
    first = regions[0]
    for other in regions[1:]:
        if first.structure != other.structure:
            raise ControlFlowError(
                f"The functions of a conditional return {first.structure} and {other.structure}. Return the same "
                "structure from all."
            )
        for one, two in zip(first.results, other.results, strict=True):
            if one.shape != two.shape or (
                one.dtype != two.dtype and not one.weak_type | two.weak_type
            ):
                raise ControlFlowError(
                    f"The functions of a conditional return {_text(one)} and {_text(two)}. Return the same shape "
                    "and type from all: reshape or cast one of them."
                )
    columns = zip(*(region.results for region in regions), strict=True)
    types = [
        functools.reduce(
            jnp.promote_types, [r.dtype for r in each if not r.weak_type] or [r.dtype for r in each]
        )
        for each in columns
    ]

    def typed(result: PyTree) -> PyTree:
        leaves, structure = jax.tree.flatten(result)
        pairs = zip(leaves, types, strict=True)
        return structure.unflatten(leaf if leaf.dtype == d else leaf.astype(d) for leaf, d in pairs)

    return [typed] * len(regions)


def _text(array: Any) -> str:
    return f"{array.dtype}{list(array.shape)}"
