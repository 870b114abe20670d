"""Variables whose true value lives elsewhere, as on a parameter server: read before use, and updated, not overwritten.

A *backing* holds the true values of variables; the value in the object is a copy. Code that reads a backed variable
refreshes the copy first. Code that writes one describes what it does as an `Update` (add this, replace these rows),
so that the updates of several workers add up. Between steps an update is sent at once. While a step is traced, a
`Recorder` collects the updates; their arrays become results of the program, and are sent after each run.
"""

import contextlib
import contextvars
import dataclasses
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np

from spmd._jax_internals import trace_state
from spmd.assigned import assigned
from spmd.replica import axis_size, current_frame, in_replica
from spmd.state.kinds import Kind
from spmd.state.registry import adapter_of
from spmd.typing import LibraryVariable, PyTree


class Update:
    """What is to happen to the true value of a variable.

    Attributes:
        variable: the variable.
        verb: `"set"`, `"add"`, `"subtract"`, `"multiply"`, `"divide"`, `"max"` or `"min"`, as the methods of JAX's
            `x.at[index]`; or `"apply"`: what an optimizer's rule makes of a gradient.
        operand: pytree of arrays, a gradient first; `SparseRows` stand for an array that is zero in most rows.
        index: pytree of index arrays; None for the whole value.
        detail: what does not change from run to run: a static index, or the rule of an optimizer.
    """

    __slots__ = ("detail", "index", "operand", "variable", "verb")

    def __init__(
        self,
        variable: LibraryVariable,
        verb: str,
        operand: PyTree,
        index: PyTree = None,
        detail: Any = None,
    ) -> None:
        self.variable = variable
        self.verb = verb
        self.operand = operand
        self.index = index
        self.detail = detail

    def __repr__(self) -> str:
        return f"Update({self.variable!r}, {self.verb!r})"


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class SparseRows:
    """Rows of an array that is zero elsewhere, as the operand of an update.

    Attributes:
        indices: numbers of the rows, shape (n,). A row may occur several times, and its values add up; rows that the
            array does not have are ignored.
        values: of these rows, shape (n, ...).
    """

    indices: Any
    values: Any


class _Static:
    """What an update keeps beside arrays, compared by identity: two traces never share it."""

    def __init__(self, *values: Any) -> None:
        self.values = values


def _flatten(update: Update) -> tuple[tuple[PyTree, PyTree], _Static]:
    return (update.operand, update.index), _Static(update.variable, update.verb, update.detail)


def _unflatten(static: _Static, children: Sequence[PyTree]) -> Update:
    variable, verb, detail = static.values
    return Update(variable, verb, children[0], children[1], detail)


jax.tree_util.register_pytree_node(Update, _flatten, _unflatten)


class Backing(Protocol):
    """Holds the true values of variables.

    Attributes:
        takes_updates: whether steps of this process send it what they do to the variables.
    """

    takes_updates: bool

    def refresh(self, variables: Sequence[LibraryVariable]) -> None:
        """Gives variables their true values; blocks until they have come."""
        ...

    def push(self, updates: Sequence[Update]) -> None:
        """Sends updates of concrete arrays; blocks until they are applied."""
        ...


@runtime_checkable
class RowBacking(Backing, Protocol):
    """A backing that hands out rows of large variables, so that a step which looks up some needs no whole copy."""

    def is_table(self, shape: Sequence[int], dtype: np.dtype[Any], rows: int) -> bool:
        """Tells whether a variable is so large that a step had better fetch rows.

        Args:
            shape: of the variable.
            dtype: of its elements.
            rows: how many the step looks up.
        """
        ...

    def look_up(
        self,
        requests: Sequence[tuple[LibraryVariable, np.ndarray[Any, Any]]],
        variables: Sequence[LibraryVariable] = (),
    ) -> list[np.ndarray[Any, Any]]:
        """Fetches rows, and refreshes other variables in the same messages; blocks until they have come.

        Args:
            requests: variables, and numbers of rows that they have, of any shape.
            variables: to refresh.

        Returns:
            For each request the rows, in the shape of their numbers followed by that of a row.
        """
        ...


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Recorded:
    """A step's result, with the updates that the step recorded."""

    result: PyTree
    updates: list[Update]


class ReadAfterUpdateError(RuntimeError):
    """A step reads a variable after an optimizer's update, which the backing computes; caught by the engine.

    The step is traced again, and then computes for itself what the update makes of the variable.
    """


class _Unknown:
    """What a variable holds, in a trace, after an update that the backing computes."""

    def __init__(self, value: jax.Array) -> None:
        self.shape, self.dtype = value.shape, value.dtype


def check_known(variable: LibraryVariable, value: Any) -> None:
    """Called when a step reads a variable.

    Raises:
        ReadAfterUpdateError: only the backing knows its value.
    """
    if type(value) is _Unknown:
        raise ReadAfterUpdateError(f"{variable!r} is read after its update")


# Held while backed variables hold traced values, which no other thread may overwrite.
LIFTING = threading.RLock()

# By the id of the variable; an entry goes with its variable.
_BACKED: dict[int, Backing] = {}
# How many times a variable was given a backing.
_TIMES_BACKED = [0]
# Who backs variables that are made now.
_CHOOSERS: list[tuple[Callable[[], Callable[[LibraryVariable], None] | None], bool]] = []
_UPDATE: contextvars.ContextVar[Update | None] = contextvars.ContextVar("update", default=None)
_RECORDER: contextvars.ContextVar["Recorder | None"] = contextvars.ContextVar(
    "recorder", default=None
)
_SILENT: contextvars.ContextVar[bool] = contextvars.ContextVar("silent", default=False)
_MERGES: contextvars.ContextVar[bool] = contextvars.ContextVar("merges_writes", default=False)


def back(variable: LibraryVariable, backing: Backing) -> None:
    """Makes a variable's value a copy of what a backing holds."""
    if id(variable) not in _BACKED:
        weakref.finalize(variable, _BACKED.pop, id(variable), None)
    _BACKED[id(variable)] = backing
    _TIMES_BACKED[0] += 1


def backing_of(variable: LibraryVariable) -> Backing | None:
    """Returns what holds the true value of a variable; None if the variable itself does."""
    return _BACKED.get(id(variable)) if _BACKED else None


def times_backed() -> int:
    """Returns a number that grows whenever a variable is given a backing."""
    return _TIMES_BACKED[0]


def register_backing(
    choose: Callable[[], Callable[[LibraryVariable], None] | None], *, slots: bool = False
) -> None:
    """Registers a function that is asked, whenever a variable is made, what backs it.

    Args:
        choose: returns a function that backs the variable, or None.
        slots: ask about slots of optimizers, too, for variables that are not backed.
    """
    _CHOOSERS.append((choose, slots))


def back_new(variable: LibraryVariable, *, is_slot: bool = False) -> None:
    """Called by libraries' adapters when a variable was made.

    Args:
        variable: the variable.
        is_slot: whether an optimizer keeps it beside another one.
    """
    if _SILENT.get():
        return
    for choose, slots in _CHOOSERS:
        bind = choose() if slots or not is_slot else None
        if bind is not None:
            bind(variable)


def silently() -> contextlib.AbstractContextManager[bool]:
    """Runs a block whose writes and new variables stay this process's own."""
    return assigned(_SILENT, True)


def merging_writes() -> contextlib.AbstractContextManager[bool]:
    """Runs a block, as of a worker, whose writes to sums and means are sent as differences."""
    return assigned(_MERGES, True)


def describing(update: Update) -> contextlib.AbstractContextManager[Update | None]:
    """Says what the write in a block does to a variable."""
    return assigned(_UPDATE, update)


def described(variable: LibraryVariable) -> Update | None:
    """Returns what the write of a block was said to do to a variable; None if nothing was said."""
    update = _UPDATE.get()
    return update if update is not None and update.variable is variable else None


def undisturbed(variable: LibraryVariable) -> contextlib.AbstractContextManager[object]:
    """Reads or writes a variable in a `with` block while no other thread traces a step with it."""
    # In a step it is the step's, whose replicas may run on other threads than the one that holds the lock.
    is_free = backing_of(variable) is None or current_frame() is not None
    return contextlib.nullcontext() if is_free else LIFTING


def refreshed(variables: Sequence[LibraryVariable]) -> None:
    """Refreshes those variables that are backed; cheap if there are none."""
    if not _BACKED or _SILENT.get():
        return
    groups: dict[int, tuple[Backing, list[LibraryVariable]]] = {}
    for variable in variables:
        backing = _BACKED.get(id(variable))
        if backing is not None:
            groups.setdefault(id(backing), (backing, []))[1].append(variable)
    for backing, group in groups.values():
        backing.refresh(group)


def written(variable: LibraryVariable, old: PyTree, new: PyTree) -> None:
    """Called when code writes a variable: records the update in a trace, and else sends it."""
    backing = backing_of(variable)
    if backing is None or _SILENT.get():
        return
    update = described(variable)
    recorder = _RECORDER.get()
    if recorder is not None:
        recorder.add(variable, update)
        return
    frame = current_frame()
    if frame is not None and frame.turns is None:
        return  # a trace for shapes only
    if update is None and _MERGES.get() and _adds_up(variable):
        update = Update(variable, "add", jnp.asarray(new) - jnp.asarray(old))
    backing.push([update or Update(variable, "set", new)])


def push(updates: Sequence[Update]) -> None:
    """Sends updates to the backings of their variables."""
    groups: dict[int, tuple[Backing, list[Update]]] = {}
    for update in updates:
        backing = _BACKED[id(update.variable)]
        groups.setdefault(id(backing), (backing, []))[1].append(update)
    for backing, group in groups.values():
        backing.push(group)


def update_by_rule(updates: Sequence[Update], predict: Callable[[], None]) -> None:
    """Has the backing compute new values of variables, as by an optimizer.

    Args:
        updates: with the verb `"apply"`.
        predict: computes them here, too, for a step that goes on to read them.
    """
    recorder, frame = _RECORDER.get(), current_frame()
    if recorder is None:
        if frame is None or frame.turns is not None:
            push(updates)
        else:
            predict()  # a trace for what it makes only: of no backed variable that it found
        return
    recorder.apply(updates)
    if recorder.predicts:
        with silently():
            predict()
    else:
        recorder.hide(update.variable for update in updates)


class Recorder:
    """Collects the updates of a step while it is traced.

    Attributes:
        predicts: whether the step computes for itself what an optimizer's update makes of a variable.
    """

    def __init__(self, initial: Mapping[int, Any], *, predicts: bool) -> None:
        """Makes a recorder.

        Args:
            initial: values of the step's variables at its start, by the variable's id.
            predicts: see the class.
        """
        self.predicts = predicts
        self._initial = initial
        self._trace = trace_state()
        self._written: dict[int, LibraryVariable] = {}
        self._updates: dict[int, list[Update]] = {}
        # Variables that were written in a way that only the outcome tells; whether all of that was adding.
        self._outcomes: dict[int, bool] = {}
        self._hidden: list[tuple[LibraryVariable, Any]] = []

    def add(self, variable: LibraryVariable, update: Update | None) -> None:
        """Records a write.

        Args:
            variable: the variable.
            update: what it does; None if only the new value is known.
        """
        key = id(variable)
        self._written[key] = variable
        outside = self._trace == trace_state()
        # Replicas add parts of one sum, which is known once they have ended.
        in_parts = _adds_up(variable) and in_replica() and axis_size() > 1
        if key in self._outcomes or update is None or not outside or in_parts:
            former = [*self._updates.pop(key, ()), *([update] if update else ())]
            adds = update is not None and all(
                one.verb in ("add", "subtract") and one.index is None for one in former
            )
            self._outcomes[key] = self._outcomes.get(key, True) and adds
        else:
            self._updates.setdefault(key, []).append(update)

    def apply(self, updates: Sequence[Update]) -> None:
        """Records updates by a rule.

        Raises:
            NotImplementedError: this is a branch or loop of the step, whose arrays cannot leave it.
        """
        if self._trace != trace_state():
            raise NotImplementedError(
                "An optimizer is applied inside a branch or a loop of a compiled step, and its variables live on "
                "parameter servers. Apply it outside of branches and loops on arrays: choose the gradients there, "
                "and apply them once."
            )
        for update in updates:
            self._written[id(update.variable)] = update.variable
            self._updates.setdefault(id(update.variable), []).append(update)

    def hide(self, variables: Any) -> None:
        """Makes reading variables a `ReadAfterUpdateError` from here to the end of the trace."""
        for variable in variables:
            adapter = _adapter(variable)
            value = adapter.get(variable)
            if not isinstance(value, _Unknown):
                self._hidden.append((variable, value))
                adapter.set(variable, _Unknown(value))

    def close(self) -> list[Update]:
        """Gives variables that were hidden their values back, and returns the updates."""
        for variable, value in self._hidden:
            _adapter(variable).set(variable, value)
        self._hidden.clear()
        updates = [one for key in self._written for one in self._updates.get(key, ())]
        for key, adds in self._outcomes.items():
            variable = self._written[key]
            value, initial = _adapter(variable).get(variable), self._initial.get(key)
            if value is initial:
                continue
            if initial is not None and (adds or _adds_up(variable)):
                updates.append(Update(variable, "add", value - initial))
            else:
                updates.append(Update(variable, "set", value))
        return updates


def recording(recorder: Recorder) -> contextlib.AbstractContextManager[Recorder | None]:
    """Has a recorder collect the updates of a block."""
    return assigned(_RECORDER, recorder)


def is_backed(variables: Sequence[LibraryVariable]) -> bool:
    """Tells whether any of some variables has a backing that takes the updates of steps."""
    if not _BACKED:
        return False
    backings = [_BACKED.get(id(variable)) for variable in variables]
    return any(one is not None and one.takes_updates for one in backings)


def _adds_up(variable: LibraryVariable) -> bool:
    """Tells whether concurrent writes to a variable are parts of one sum, or moves of one mean."""
    return _adapter(variable).kind(variable) in (Kind.SUM, Kind.MEAN)


def _adapter(variable: LibraryVariable) -> Any:
    adapter = adapter_of(variable)
    assert adapter is not None
    return adapter
