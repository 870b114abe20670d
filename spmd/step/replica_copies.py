"""A copy of the state for every replica, while they run op by op.

Objects such as models hold one value for each variable: that of the replica whose turn it is. The values of the others
wait here. When all have run, their copies are made into one value again, as the kind of each variable says.
"""

import dataclasses
import functools
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from spmd.replica import outside_of_steps
from spmd.state import Kind, StateTable, adapter_of, adapters, apply_pending, is_backed, silently
from spmd.step.state_views import fold_key, rows_of_replica
from spmd.topology import Layout, copied
from spmd.typing import LibraryVariable


@dataclasses.dataclass
class _Copies:
    """The copies of some variables.

    Attributes:
        table: the variables.
        before: what they held.
        entries: what each replica started from.
        values: what each replica has, when it is not its turn.
        found: whether the step found them; else it came upon them while it ran.
    """

    table: StateTable
    before: list[Any]
    entries: list[list[Any]]
    values: list[list[Any]]
    found: bool


class ReplicaCopies:
    """The state of a step, a copy for each replica."""

    def __init__(self, table: StateTable, layout: Layout) -> None:
        """Makes copies of all variables that a step found.

        Args:
            table: the variables.
            layout: of the mesh that the step is for.
        """
        self._layout = layout
        self._copies: list[_Copies] = []
        self._adopted: dict[int, Callable[[], None]] = {}
        self._add(table, found=True)
        self._attributes = [
            place
            for adapter in adapters()
            for place in adapter.replica_attributes(
                [thing for thing in table.things if adapter.owns(thing)]
            )
        ]
        self._held = [
            [_own_container(owner[name]) for owner, name in self._attributes]
            for _ in range(layout.replicas)
        ]

    def enter(self, replica: int) -> None:
        """Gives the variables the values of a replica."""
        for copies in self._copies:
            _put(copies.table, copies.values[replica])
        for (owner, name), value in zip(self._attributes, self._held[replica], strict=True):
            owner[name] = value

    def leave(self, replica: int) -> None:
        """Keeps what a replica has made of its values."""
        for copies in self._copies:
            copies.values[replica] = copies.table.read()
        self._held[replica] = [owner[name] for owner, name in self._attributes]

    def adopt(self, variable: LibraryVariable, replica: int, leave: Callable[[], None]) -> None:
        """Adds a variable that the step did not find, as the replica whose turn it is holds it.

        Args:
            variable: any library's; nothing happens if it was added before.
            replica: whose turn it is.
            leave: called when the step is over.
        """
        adapter = adapter_of(variable)
        if id(variable) in self._adopted or adapter is None or adapter.get(variable) is None:
            return
        with outside_of_steps():
            apply_pending()  # a restored checkpoint may hold its value
        self._adopted[id(variable)] = leave
        name = str(getattr(variable, "name", None) or type(variable).__name__)
        copies = self._add(StateTable((), [(name, variable, adapter)]), found=False)
        _put(copies.table, copies.values[replica])

    def end(self) -> bool:
        """Lets go of the variables that the step did not find; they hold what they did before.

        Returns:
            Whether there were some.
        """
        for leave in self._adopted.values():
            leave()
        for copies in self._copies:
            if not copies.found:
                _put(copies.table, copies.before)
        return bool(self._adopted)

    def join(
        self, has_rows: Sequence[bool]
    ) -> tuple[list[list[Any]], list[tuple[StateTable, int]]]:
        """Makes one value of the copies of each variable.

        Args:
            has_rows: for each replica, whether it got rows at all.

        Returns:
            The values, for `write`; and which leaves should be equal on all replicas, and are not.
        """
        joined: list[list[Any]] = []
        diverged: list[tuple[StateTable, int]] = []
        for copies in self._copies:
            values: list[Any] = []
            # Kinds as they are by now: a layer may have been built meanwhile.
            kinds = [
                slot.adapter.kind(slot.variable)
                for slot in copies.table.slots
                for _ in range(slot.count)
            ]
            for index, kind in enumerate(kinds):
                before = copies.before[index]
                entries = [entry[index] for entry in copies.entries]
                after = [value[index] for value in copies.values]
                if not copies.found:
                    after = _of_maker(entries, after)
                try:
                    value = _joined(kind, before, entries, after, has_rows)
                except _DivergedError:
                    diverged.append((copies.table, index))
                    value = before
                if value is not before:
                    sharding = self._layout.of_state(before, local=kind is Kind.LOCAL)
                    # Later steps may take its memory, and somebody may hold what a replica had.
                    value = copied(value, sharding)
                values.append(value)
            joined.append(values)
        return joined, diverged

    def moved(self, joined: Sequence[Sequence[Any]]) -> list[tuple[LibraryVariable, Any]]:
        """Lists sums and means that live elsewhere and have changed, each with the difference.

        Args:
            joined: what `join` returned.
        """
        return [
            (slot.variable, values[slot.first] - copies.before[slot.first])
            for copies, values in zip(self._copies, joined, strict=True)
            for slot in copies.table.slots
            if slot.kind in (Kind.SUM, Kind.MEAN)
            and is_backed([slot.variable])
            and values[slot.first] is not copies.before[slot.first]
        ]

    def write(self, joined: Sequence[Sequence[Any]]) -> None:
        """Writes all variables."""
        for copies, values in zip(self._copies, joined, strict=True):
            with silently():
                copies.table.write(values)

    def _add(self, table: StateTable, *, found: bool) -> _Copies:
        before = table.read()
        entries = [
            [
                _entry(kind, value, name, replica)
                for kind, value, name in zip(table.kinds, before, table.leaf_names, strict=True)
            ]
            for replica in range(self._layout.replicas)
        ]
        copies = _Copies(table, before, entries, list(map(list, entries)), found)
        self._copies.append(copies)
        return copies


class _DivergedError(Exception):
    """Copies differ that should be equal."""


def _put(table: StateTable, values: Sequence[Any]) -> None:
    """Gives variables values, of which whoever holds their true values is not told: they may stand for others."""
    with silently():
        table.put(values)


def unplaced(value: Any) -> jax.Array:
    """Copies an array to where JAX puts those that no device was named for: they go with arrays of any device."""
    if isinstance(value, jax.Array) and jnp.issubdtype(value.dtype, jax.dtypes.prng_key):
        data = unplaced(jax.random.key_data(value))
        return jax.random.wrap_key_data(data, impl=jax.random.key_impl(value))
    host = np.asarray(value)
    if getattr(value, "weak_type", False) and not host.ndim:
        return jnp.asarray(host.item())
    return jnp.array(host)


def equal(values: Sequence[Any]) -> bool:
    """Tells whether arrays have the same bits."""
    first, *others = map(_bits, values)
    return all(other == first for other in others)


def _bits(value: Any) -> tuple[Any, ...]:
    if jnp.issubdtype(value.dtype, jax.dtypes.prng_key):
        value = jax.random.key_data(value)
    host = np.asarray(value)
    return host.shape, host.dtype, host.tobytes()


def _own_container(value: Any) -> Any:
    """Copies a container; not by its class, which may take notice of what goes in."""
    kinds: tuple[Any, ...] = (list, set, dict)
    return next((kind(value) for kind in kinds if isinstance(value, kind)), value)


def _entry(kind: Kind, value: Any, name: str, replica: int) -> Any:
    """Makes what a replica starts from; see `state_views.replica_state`."""
    own = unplaced(value[replica] if kind is Kind.LOCAL else value)
    if kind is Kind.KEY:
        return fold_key(own, replica)
    if kind is Kind.SUM and replica:
        return jnp.zeros_like(own)
    if kind is Kind.ROWS:
        start, count = rows_of_replica(own, name, replica)
        return own[start : start + count]
    return own


def _of_maker(entries: Sequence[Any], after: list[Any]) -> list[Any]:
    """Lets the one replica count that wrote a variable, which may be its own alone."""
    written = [new for old, new in zip(entries, after, strict=True) if new is not old]
    return written * len(after) if len(written) == 1 else after


def _joined(
    kind: Kind,
    before: Any,
    entries: Sequence[Any],
    after: Sequence[Any],
    has_rows: Sequence[bool],
) -> Any:
    """Makes one value of those that replicas have.

    Raises:
        _DivergedError: they have to be equal, and are not.
    """
    if all(map(operator.is_, entries, after)):
        return before
    match kind:
        case Kind.SUM:
            return functools.reduce(jnp.add, after)
        case Kind.MEAN:
            return _mean([one for one, seen in zip(after, has_rows, strict=True) if seen] or after)
        case Kind.ROWS:
            return jnp.concatenate(after)
        case Kind.LOCAL:
            return jnp.stack(after)
        case Kind.KEY if all(equal(pair) for pair in zip(entries, after, strict=True)):
            return before
        case _:
            if not equal(after):
                raise _DivergedError
            return after[0]


def _mean(values: Iterable[Any]) -> jax.Array:
    first, *others = values
    wide = jnp.promote_types(first.dtype, jnp.float32)
    total = functools.reduce(jnp.add, (one.astype(wide) for one in others), first.astype(wide))
    return (total / (1 + len(others))).astype(first.dtype)
