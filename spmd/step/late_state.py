"""State that a step makes for good at its first call, such as an optimizer's slots, without another trace.

Such variables are not there when the step looks for its state. When they are made, an operation stands for the
value that each will have when the program starts. After the trace they are found, and `with_late_state` puts inputs
in place of these operations: what comes out is the program of a step that has found them before.
"""

import contextlib
from collections.abc import Callable, Generator, Sequence
from typing import Any

import jax
from jax.core import Tracer
from jax.extend.core import ClosedJaxpr, Primitive, jaxpr_as_fun

from spmd import _jax_internals
from spmd.replica import Frame, computing_at_once
from spmd.state import Kind, StateTable
from spmd.typing import LibraryVariable

# It has no rule that computes it, so that no code takes the value of the first call for that of each.
_late = Primitive("late_state")
_late.def_abstract_eval(lambda first, index: first)


class LateState:
    """The variables of one trace that become state.

    Attributes:
        variables: in the order in which they were made.
    """

    def __init__(self, frame: Frame) -> None:
        """Starts with none; call it in the trace of a replica's program, before the step's code runs.

        Args:
            frame: of the step.
        """
        self.variables: list[LibraryVariable] = []
        self._frame, self._trace = frame, _jax_internals.trace_state()

    @contextlib.contextmanager
    def making(self) -> Generator[None]:
        """Takes in the variables that the code inside makes, which runs at the step's first call only.

        If that code writes other state, or stands in a loop, a branch or a tape, takes in none: the step has to be
        traced again.
        """
        table, all_made = self._frame.table, self._frame.made
        assert isinstance(table, StateTable)
        before, count = table.read(), len(all_made)
        with computing_at_once():
            yield
        made = StateTable.of([variable for variable, _ in all_made[count:]])
        values = made.read()
        if (
            self._trace == _jax_internals.trace_state()
            and not _jax_internals.is_interposed()
            and table.holds(before)
            and all(isinstance(value, jax.Array) for value in values)
            and not any(isinstance(value, Tracer) for value in values)
            and all(slot.kind is Kind.MIRRORED and slot.count == 1 for slot in made.slots)
        ):
            if values:
                _leave_with(all_made, made, values)
            first = len(self.variables)
            made.put([_late.bind(value, index=first + i) for i, value in enumerate(values)])
            self.variables += made.variables

    def read(self) -> list[Any]:
        """Reads the values that the step leaves in the variables."""
        return StateTable.of(self.variables).read()


def _leave_with(
    all_made: list[tuple[LibraryVariable, Callable[[], None]]], made: StateTable, values: list[Any]
) -> None:
    """Leaves variables, at the end of the trace, with what the code that made them has written last."""
    variable, leave = all_made[-1]

    def leave_written() -> None:
        leave()
        made.put(values)

    all_made[-1] = variable, leave_written


def with_late_state(
    program: ClosedJaxpr,
    late: Sequence[LibraryVariable],
    before: StateTable,
    after: StateTable,
) -> Callable[[Sequence[jax.Array], Sequence[jax.Array]], list[Any]] | None:
    """Makes a replica's program take late state, as if the step had found it before it was traced.

    Args:
        program: of one replica. Its first inputs and outputs are the state of `before`; its last outputs are
            what `LateState.read` gave.
        late: the variables that became state, in the order of `LateState`.
        before: the state that the step found at first.
        after: the state that it finds now.

    Returns:
        Takes the state of `after` and the other inputs; gives its new values and the other outputs. None if
        that is not what another trace would give: the step finds other state, too, or does not find some of this.
    """
    jaxpr = program.jaxpr
    made = {eqn.params["index"]: eqn.outvars[0] for eqn in jaxpr.eqns if eqn.primitive is _late}
    size = before.size
    places = {id(slot.variable): range(size)[slot.span] for slot in before.slots}
    places |= {id(variable): range(size + i, size + i + 1) for i, variable in enumerate(late)}
    if set(places) != {id(variable) for variable in after.variables} or len(made) < len(late):
        return None
    order = [place for slot in after.slots for place in places[id(slot.variable)]]
    inputs = [*jaxpr.invars[:size], *(made[index] for index in range(len(late)))]
    others = slice(size, len(jaxpr.outvars) - len(late))
    outputs = [*jaxpr.outvars[:size], *jaxpr.outvars[others.stop :]]
    run = jaxpr_as_fun(
        program.replace(
            jaxpr=jaxpr.replace(
                invars=[*(inputs[place] for place in order), *jaxpr.invars[size:]],
                outvars=[*(outputs[place] for place in order), *jaxpr.outvars[others]],
                eqns=[eqn for eqn in jaxpr.eqns if eqn.primitive is not _late],
                debug_info=jaxpr.debug_info.with_unknown_names(),
            )
        )
    )
    return lambda state, rest: run(*state, *rest)
