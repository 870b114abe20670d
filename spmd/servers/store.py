"""What one parameter server does: it holds values, hands out those that changed, and applies updates.

A store knows arrays and keys, no objects. Values are NumPy arrays in host memory. A value that was handed out is
never written again: an update replaces it, or copies it first.
"""

import contextlib
import dataclasses
import threading
from collections.abc import Generator, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from spmd.servers.rules import Array, Job, Rule, Rules
from spmd.state import SparseRows
from spmd.typing import PyTree

# Of a shard: the name of the variable, and the number of the shard. Of an optimizer's slot: these, the rule, a position.
Key: TypeAlias = tuple[Any, ...]
# Gradients of fewer rows are padded to so many.
_FEWEST_ROWS = 16
# Values of up to so many bytes are updated together: new ones are there beside the old ones until all are made.
_MOST_TOGETHER = 1 << 18


@dataclasses.dataclass(frozen=True)
class Change:
    """An update of one shard, as it travels.

    Attributes:
        key: of the shard, or of a slot.
        verb: see `spmd.state.Update`.
        operand: pytree of NumPy arrays; a gradient may be `SparseRows`, sorted, each once.
        index: tuple of index arrays, or a static index; None for the whole value.
        is_unique: whether no row occurs twice in the index.
        rule: key of the rule, with the verb `"apply"`.
    """

    key: Key
    verb: str
    operand: PyTree
    index: Any = None
    rule: str | None = None
    is_unique: bool = False


class UnknownVariableError(KeyError):
    """A store holds no such value: the server that it was on was replaced."""


_UFUNCS: dict[str, Any] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "max": np.maximum,
    "min": np.minimum,
}


@dataclasses.dataclass
class _Entry:
    value: Array
    version: int = 1
    shared: bool = True
    lock: threading.RLock = dataclasses.field(default_factory=threading.RLock)
    # By the rule's key: an optimizer's slots, and values that were assigned to slots before there were any.
    slots: dict[str, list[Array]] = dataclasses.field(default_factory=dict[str, list[Array]])
    assigned: dict[tuple[str, int], Array] = dataclasses.field(
        default_factory=dict[tuple[str, int], Array]
    )


class _Whole(NamedTuple):
    """A value that a rule updates as a whole."""

    entry: _Entry
    slots: list[Array]
    job: Job


class _Rows(NamedTuple):
    """Some rows of a value, which a rule updates by themselves."""

    entry: _Entry
    slots: list[Array]
    gradient: SparseRows
    others: Sequence[Array]


class Store:
    """Values by key; safe to use from several threads.

    Examples:
        >>> import numpy as np
        >>> store = Store()
        >>> store.create({("w", 0): np.zeros(2, np.float32)})
        >>> store.push([Change(("w", 0), "add", np.ones(2, np.float32))])
        >>> store.pull({("w", 0): 0})
        {('w', 0): (2, array([1., 1.], dtype=float32))}
        >>> store.pull({("w", 0): 2})
        {}
    """

    def __init__(self) -> None:
        self._entries: dict[Key, _Entry] = {}
        self._rules = Rules()
        self._making = threading.Lock()
        self.changes = 0

    def create(self, values: Mapping[Key, Array], *, shared: bool = True) -> None:
        """Takes values in; those that it holds already stay.

        Args:
            values: by key.
            shared: whether somebody else has these arrays, which then are never written.
        """
        with self._making:
            for key, value in values.items():
                self._entries.setdefault(key, _Entry(np.asarray(value), shared=shared))

    def delete(self, keys: Sequence[Key]) -> None:
        """Forgets values, and all that optimizers keep beside them; those that are not there are no error.

        Args:
            keys: of values, or of slots, whose optimizer then has none beside this value.
        """
        rules: set[str] = set()
        for name, shard, rule, position in filter(_is_slot, keys):
            entry = self._entries.get((name, shard))
            if entry is not None:
                with entry.lock:
                    entry.slots.pop(rule, None)
                    entry.assigned.pop((rule, position), None)
                rules.add(rule)
        with self._making:
            deleted = [self._entries.pop(key, None) for key in keys]
            rules |= {rule for entry in deleted if entry is not None for rule in entry.slots}
            used = {rule for entry in self._entries.values() for rule in list(entry.slots)}
        for rule in rules - used:
            self._rules.forget_programs(rule)

    def add_rules(self, rules: Sequence[Rule]) -> None:
        """Takes the rules of optimizers in."""
        self._rules.add(rules)

    def pull(self, versions: Mapping[Key, int]) -> dict[Key, tuple[int, Array]]:
        """Hands out values that changed.

        Args:
            versions: the version that the caller has, by key; 0 for none.

        Returns:
            Version and value of those that have another version.

        Raises:
            UnknownVariableError: there is no value of a key.
        """
        found: dict[Key, tuple[int, Array]] = {}
        for key, known in versions.items():
            entry = self._entry(key)
            with entry.lock:
                if entry.version == known:
                    continue
                value = _slot(entry, key) if _is_slot(key) else entry.value
                if value is None:
                    continue  # the optimizer has not been applied yet
                if _is_slot(key):
                    value.flags.writeable = False
                else:
                    entry.shared = True
                found[key] = entry.version, value
        return found

    def rows(self, wanted: Mapping[Key, Array]) -> dict[Key, Array]:
        """Hands out some rows of values.

        Args:
            wanted: numbers of rows, by the key of the value.

        Raises:
            UnknownVariableError: there is no value of a key.
            ValueError: the key is that of a slot, whose optimizer has not been applied yet.
        """
        found: dict[Key, Array] = {}
        for key, indices in wanted.items():
            entry = self._entry(key)
            with entry.lock:
                found[key] = self._held(entry, key)[indices]
        return found

    def push(self, changes: Sequence[Change]) -> None:
        """Applies updates, each at once or not at all.

        Raises:
            UnknownVariableError: there is no value of a key.
            ValueError: the key is that of a slot, which is to be changed in part before its optimizer was applied.
        """
        gradients: dict[Key, Change] = {}
        for change in changes:
            is_gradient = change.verb == "apply"
            if not is_gradient or change.key in gradients:
                self._apply(gradients)
                gradients = {}
            if is_gradient:
                gradients[change.key] = change
            else:
                entry = self._entry(change.key)
                with entry.lock:
                    if _is_slot(change.key):
                        self._write_slot(entry, change)
                    else:
                        _write(entry, change)
                    entry.version += 1
                self._count(1)
        self._apply(gradients)

    def exchange(
        self, changes: Sequence[Change], versions: Mapping[Key, int], rows: Mapping[Key, Array]
    ) -> tuple[dict[Key, tuple[int, Array]], dict[Key, Array]]:
        """Applies updates, then hands out values that changed and rows: `push`, `pull` and `rows` in one message."""
        self.push(changes)
        return self.pull(versions), self.rows(rows)

    def _count(self, changes: int) -> None:
        with self._making:
            self.changes += changes

    def _apply(self, gradients: Mapping[Key, Change]) -> None:
        """Applies gradients, of different values, with few calls of programs."""
        entries = {key: self._entry(key) for key in gradients}
        with _locked(entries.values()):
            together: list[_Whole] = []
            alone: list[_Whole] = []
            # By what one program can do at once, however many tables they are of.
            rows: dict[Any, list[_Rows]] = {}
            for key, change in gradients.items():
                assert change.rule is not None
                entry, rule = entries[key], self._rules[change.rule]
                slots = _slots(entry, rule)
                gradient, *others = change.operand
                if not isinstance(gradient, SparseRows):
                    job = Job(rule.key, entry.value, slots, (gradient, *others))
                    few = entry.value.nbytes <= _MOST_TOGETHER
                    (together if few else alone).append(_Whole(entry, slots, job))
                elif not rule.is_by_row(entry.value):
                    operand = (_padded(gradient, len(entry.value)), *others)
                    alone.append(_Whole(entry, slots, Job(rule.key, entry.value, slots, operand)))
                elif len(gradient.indices):
                    width, same = entry.value.shape[1:], [_identity(one) for one in others]
                    kind = rule.key, width, entry.value.dtype, *same
                    rows.setdefault(kind, []).append(_Rows(entry, slots, gradient, others))
            # Now: an error further on may leave some of the values changed.
            for entry in entries.values():
                entry.version += 1
            for group in (together, *([one] for one in alone)):
                results = self._rules.run([one.job for one in group]) if group else []
                for one, (value, new) in zip(group, results, strict=True):
                    one.entry.value, one.entry.shared = value, True
                    one.slots[:] = new
            for kind, parts in rows.items():
                self._apply_to_rows(kind[0], parts)
        self._count(len(entries))

    def _apply_to_rows(self, rule: str, parts: Sequence[_Rows]) -> None:
        """Applies gradients to the rows that they have, in place."""
        first = parts[0]
        count = sum(len(part.gradient.indices) for part in parts)
        size = _rounded(count)
        tables = [[part.entry.value, *part.slots] for part in parts]
        numbers = [part.gradient.indices for part in parts]
        value, *slots = (_gathered(own, numbers, size) for own in zip(*tables, strict=True))
        gradient = np.zeros((size, *value.shape[1:]), first.gradient.values.dtype)
        np.concatenate([part.gradient.values for part in parts], out=gradient[:count])
        job = Job(rule, value, slots, (gradient, *first.others))
        ((value, slots),) = self._rules.run([job])
        start = 0
        for part in parts:
            entry, indices = part.entry, part.gradient.indices
            own = slice(start, start := start + len(indices))
            if entry.shared:
                entry.value, entry.shared = entry.value.copy(), False
            entry.value[indices] = value[own]
            for position, (slot, changed) in enumerate(zip(part.slots, slots, strict=True)):
                if not slot.flags.writeable:
                    part.slots[position] = slot = slot.copy()
                slot[indices] = changed[own]

    def _write_slot(self, entry: _Entry, change: Change) -> None:
        rule, position = change.key[2:]
        is_whole = change.verb == "set" and change.index is None
        # Written as a value would be, of which others have the old array.
        slot = _Entry(entry.value if is_whole else self._held(entry, change.key))
        _write(slot, change)
        slots = entry.slots.get(rule)
        if slots is None:
            entry.assigned[rule, position] = slot.value
        else:
            slots[position] = slot.value

    def _held(self, entry: _Entry, key: Key) -> Array:
        """Returns the value of a key, which may be that of a slot; the lock of the entry is held."""
        if not _is_slot(key):
            return entry.value
        slot = _slot(entry, key)
        if slot is not None:
            return slot
        rule = self._rules.get(key[2])
        if rule is None:
            raise ValueError(
                f"What an optimizer keeps beside variable {key[0]} is read or changed in part before the optimizer was "
                "applied. Apply it first: optimizer.apply(gradients); or assign the whole value: slot.assign(value)."
            )
        return _slots(entry, rule)[key[3]]

    def _entry(self, key: Key) -> _Entry:
        entry = self._entries.get(key[:2])
        if entry is None:
            raise UnknownVariableError(
                f"The parameter server has no value of variable {key[0]}, shard {key[1]}: it was started anew, or the "
                "coordinator's program has not had the variable for a minute. Restore a checkpoint in that program, and "
                "keep a reference there to what functions use."
            )
        return entry


def _slots(entry: _Entry, rule: Rule) -> list[Array]:
    """Returns the slots of an optimizer; makes them, if there are none yet."""
    slots = entry.slots.get(rule.key)
    if slots is None:
        slots = entry.slots[rule.key] = [
            entry.assigned.pop((rule.key, position), first)
            for position, first in enumerate(_first_slots(rule, entry.value))
        ]
    return slots


def _first_slots(rule: Rule, value: Array) -> list[Array]:
    """Makes what a rule keeps beside a value; of a large one, from what it would keep beside a few rows."""
    if value.ndim and rule.is_by_row(value):
        few = [np.asarray(slot) for slot in rule.slots(value[:2])]
        if all(slot.size and (slot == slot.flat[0]).all() for slot in few):
            # Memory of zeros is not there until it is written.
            return [
                np.full(value.shape, slot.flat[0], slot.dtype)
                if slot.any()
                else np.zeros(value.shape, slot.dtype)
                for slot in few
            ]
    return [np.asarray(slot) for slot in rule.slots(value)]


@contextlib.contextmanager
def _locked(entries: Iterable[_Entry]) -> Generator[None]:
    """Holds the locks of entries; taken in one order, so that no thread waits for another that waits for it."""
    with contextlib.ExitStack() as locks:
        for entry in sorted(entries, key=id):
            locks.enter_context(entry.lock)
        yield


def _identity(array: Array) -> Any:
    """Returns what tells whether two arrays are the same."""
    return array.shape, array.dtype, array.tobytes()


def _gathered(tables: Sequence[Array], numbers: Sequence[Array], size: int) -> Array:
    """Takes rows of several tables, one after the other; further rows, up to a size, are zero."""
    found = np.empty((size, *tables[0].shape[1:]), tables[0].dtype)
    start = 0
    for table, rows in zip(tables, numbers, strict=True):
        stop = start + len(rows)
        # All of them exist; to make sure of it would take a copy.
        np.take(table, rows, axis=0, out=found[start:stop], mode="clip")
        start = stop
    found[start:] = 0
    return found


def _rounded(count: int) -> int:
    """Rounds a number of rows up, so that few programs serve all."""
    return max(_FEWEST_ROWS, 1 << (count - 1).bit_length())


def _padded(rows: SparseRows, number: int) -> SparseRows:
    """Rounds the number of rows up; further rows have a given number, and are zero."""
    count = len(rows.indices)
    size = _rounded(count)
    if size == count:
        return rows
    # np.pad would take ten times as long.
    indices = np.full(size, number, rows.indices.dtype)
    values = np.zeros((size, *rows.values.shape[1:]), rows.values.dtype)
    indices[:count], values[:count] = rows.indices, rows.values
    return SparseRows(indices, values)


def _is_slot(key: Key) -> bool:
    return len(key) > 2


def _slot(entry: _Entry, key: Key) -> Array | None:
    rule, position = key[2:]
    slots = entry.slots.get(rule)
    return entry.assigned.get((rule, position)) if slots is None else slots[position]


def _write(entry: _Entry, change: Change) -> None:
    operand = change.operand
    if change.index is None:
        if change.verb == "set":
            entry.value = np.asarray(operand)
        else:
            new = _UFUNCS[change.verb](entry.value, operand)
            entry.value = np.asarray(
                new, entry.value.dtype
            )  # NumPy makes numbers of arrays without axes
        entry.shared = change.verb == "set"
        return
    if entry.shared:
        entry.value, entry.shared = entry.value.copy(), False
    if change.verb == "set":
        entry.value[change.index] = operand
    elif change.is_unique:
        entry.value[change.index] = _UFUNCS[change.verb](entry.value[change.index], operand)
    else:
        _UFUNCS[change.verb].at(entry.value, change.index, operand)
