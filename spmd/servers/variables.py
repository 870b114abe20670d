"""The variables that live on parameter servers: whose copies are here, and how updates get to them."""

import collections
import dataclasses
import itertools
import math
import threading
import time
import uuid
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol, TypeAlias

import jax
import numpy as np
from jax.core import Tracer

from spmd.servers.placement import Placement, Shard
from spmd.servers.rules import Array, Rule
from spmd.servers.store import Change, Key, Store
from spmd.state import LIFTING, Kind, SparseRows, Update, adapter_of, back, backing_of
from spmd.typing import LibraryVariable

# How long servers keep the values of a variable that is gone here: a worker may still run what uses it.
_GONE_SECONDS = 60.0


class StoreLike(Protocol):
    """A `Store`, in this process or far away."""

    def create(self, values: Mapping[Key, Array]) -> None:
        """See `Store.create`."""
        ...

    def delete(self, keys: Sequence[Key]) -> None:
        """See `Store.delete`."""
        ...

    def add_rules(self, rules: Sequence[Rule]) -> None:
        """See `Store.add_rules`."""
        ...

    def push(self, changes: Sequence[Change]) -> None:
        """See `Store.push`."""
        ...

    def exchange(
        self, changes: Sequence[Change], versions: Mapping[Key, int], rows: Mapping[Key, Array]
    ) -> tuple[dict[Key, tuple[int, Array]], dict[Key, Array]]:
        """See `Store.exchange`."""
        ...


# Shape, shards and keys of a variable.
Place: TypeAlias = tuple[Sequence[int], Sequence[Shard], Sequence[Key]]


@dataclasses.dataclass
class _Wanted:
    """What one server is asked for: versions that are here, and numbers of rows."""

    versions: dict[Key, int] = dataclasses.field(default_factory=dict[Key, int])
    rows: dict[Key, Array] = dataclasses.field(default_factory=dict[Key, Array])


class _Entry:
    """What is known here of a variable: its keys on the servers, and the versions of the copy."""

    __slots__ = ("keys", "shape", "shards", "versions")

    def __init__(
        self, shape: Sequence[int], shards: Sequence[Shard], keys: Sequence[Key], version: int
    ) -> None:
        self.shape, self.shards, self.keys = shape, shards, keys
        self.versions = [version] * len(keys)


class ServerVariables:
    """The backing of variables that live on parameter servers.

    A variable is created on its servers at its first use, with the value that it has then.

    Examples:
        >>> import numpy as np, spmd
        >>> from spmd.servers import ServerVariables, Store
        >>> store = Store()
        >>> variables = ServerVariables([store])
        >>> count = spmd.Variable(np.zeros(2, np.float32), name="count")
        >>> variables.bind(count)
        >>> def step(x):
        ...     count.value = count.value + x
        >>> spmd.Step(step, spmd.make_mesh(["cpu:0"]))(np.ones(2, np.float32))
        >>> count.value.tolist(), store.changes
        ([1.0, 1.0], 1)

    Attributes:
        table_bytes: how large a variable is at least of which steps fetch rows where they look up rows.
    """

    table_bytes = 1 << 16
    takes_updates = True

    def __init__(
        self,
        stores: Sequence[StoreLike],
        shards_of: Callable[[Sequence[int], Any], int] | None = None,
        session: str | None = None,
    ) -> None:
        """Makes the backing.

        Args:
            stores: the servers.
            shards_of: how many parts a variable of some shape and type is divided into; None divides none.
            session: what the names of variables on the servers begin with; None makes one up.
        """
        self._stores = stores
        self._shards_of = shards_of
        self._placement = Placement(len(stores))
        # Several programs may use one server.
        self._session = uuid.uuid4().hex if session is None else session
        self._numbers = itertools.count()
        self._entries: dict[int, _Entry] = {}
        # Bound, and not on the servers yet.
        self._new: dict[int, weakref.ref[Any]] = {}
        # Slots likewise: the slot, the id of the variable that is trained, the rule and the position.
        self._new_slots: dict[int, tuple[weakref.ref[Any], int, str, int]] = {}
        self._rules: set[str] = set()
        # Variables that are gone here, each with the time since when. The collector may add some at any moment.
        self._gone: collections.deque[tuple[float, _Entry]] = collections.deque()
        self._lock = threading.RLock()
        # Servers in other processes answer side by side.
        is_far = len(stores) > 1 and not all(isinstance(store, Store) for store in stores)
        self._threads = ThreadPoolExecutor(len(stores)) if is_far else None

    def bind(self, variable: LibraryVariable) -> None:
        """Makes a variable live on the servers."""
        with self._lock:
            self._new[id(variable)] = weakref.ref(variable)
            weakref.finalize(variable, self._delete, id(variable)).atexit = False
        back(variable, self)

    def bind_slot(
        self, variable: LibraryVariable, of: LibraryVariable, rule: str, position: int
    ) -> None:
        """Makes a variable show what an optimizer's rule keeps beside another one.

        Args:
            variable: the slot.
            of: the variable that is trained, which lives on the servers.
            rule: key of the rule.
            position: of the slot among those of the rule.
        """
        with self._lock:
            self._new.pop(id(variable), None)
            self._new_slots[id(variable)] = weakref.ref(variable), id(of), rule, position
            weakref.finalize(variable, self._delete, id(variable)).atexit = False
        back(variable, self)

    def shards(self, variable: LibraryVariable) -> Sequence[Shard]:
        """Tells which servers hold which rows of a variable."""
        self._flush()
        return self._entries[id(variable)].shards

    def refresh(self, variables: Sequence[LibraryVariable]) -> None:
        """Gives variables the values that the servers have; blocks until they have come."""
        self.look_up((), variables)

    def is_table(self, shape: Sequence[int], dtype: np.dtype[Any], rows: int) -> bool:
        """Tells whether a step that looks up so many rows of a variable had better fetch these alone."""
        return math.prod(shape) * dtype.itemsize >= self.table_bytes and 2 * rows <= shape[0]

    def look_up(
        self,
        requests: Sequence[tuple[LibraryVariable, Array]],
        variables: Sequence[LibraryVariable] = (),
    ) -> list[Array]:
        """Fetches rows, each once, and refreshes variables; one message to each server, blocks until all has come."""
        self._flush()
        numbers: dict[int, list[Array]] = {}
        for variable, rows in requests:
            numbers.setdefault(id(variable), []).append(rows.reshape(-1))
        unique = {name: np.unique(np.concatenate(rows)) for name, rows in numbers.items()}
        wanted: dict[int, _Wanted] = collections.defaultdict(_Wanted)
        for name, rows in unique.items():
            for server, key, own, start in _by_shard(rows, self._entries[name]):
                wanted[server].rows[key] = rows[own] - start
        entries = [(variable, self._entries.get(id(variable))) for variable in variables]
        for _, entry in entries:
            if entry is not None:
                for shard, key, version in zip(
                    entry.shards, entry.keys, entry.versions, strict=True
                ):
                    wanted[shard.server].versions[key] = version
        found: dict[Key, tuple[int, Array]] = {}
        rows_of: dict[Key, Array] = {}
        each = map if self._threads is None or len(wanted) == 1 else self._threads.map
        for values, rows in each(self._ask, wanted.keys(), wanted.values()):
            found |= values
            rows_of |= rows
        # What another thread traces is not read here, and a value comes with its version.
        with LIFTING:
            taken = [
                (variable, _newest(variable, entry, found))
                for variable, entry in entries
                if entry is not None and not found.keys().isdisjoint(entry.keys)
            ]
            if taken:
                _give([variable for variable, _ in taken], [value for _, value in taken])
        # In the order of the shards, which is that of the numbers.
        tables = {
            name: np.concatenate(
                [rows_of[key] for key in self._entries[name].keys if key in rows_of]
            )
            for name in unique
        }
        return [
            tables[id(variable)][np.searchsorted(unique[id(variable)], rows)]
            for variable, rows in requests
        ]

    def push(self, updates: Sequence[Update]) -> None:
        """Sends updates, one message to each server; blocks until they are applied."""
        self._flush()
        messages: dict[int, list[Change]] = {}
        rules: dict[str, Rule] = {}
        for update in updates:
            entry = self._entries[id(update.variable)]
            if update.verb == "apply" and update.detail.key not in self._rules:
                rules[update.detail.key] = update.detail
            for server, change in _changes(update, entry):
                messages.setdefault(server, []).append(change)
        if rules:
            for store in self._stores:
                store.add_rules(list(rules.values()))
            self._rules |= rules.keys()
        for server, changes in messages.items():
            self._send(server, changes)

    def share(self, variable: LibraryVariable) -> Place | None:
        """Returns where the parts of a variable are; moves one there that is this program's own.

        None if the variable stays its own: it is a key of random numbers, stands for another variable, has no value yet,
        or is backed by another.
        """
        adapter: Any = adapter_of(variable)
        is_storage = all(one is variable for _, one in adapter.variables(variable))
        if backing_of(variable) is None and is_storage and takes(variable):
            self.bind(variable)
        return self.place_of(variable)

    def place_of(self, variable: LibraryVariable) -> Place | None:
        """Returns where the parts of a variable are; None if it is not on the servers."""
        self._flush()
        entry = self._entries.get(id(variable))
        return None if entry is None else (entry.shape, entry.shards, entry.keys)

    def adopt(self, variable: LibraryVariable, place: Place) -> None:
        """Makes a variable show what another program's variable holds, of which `place_of` told the place."""
        weakref.finalize(variable, self._forget, id(variable)).atexit = False
        self._entries[id(variable)] = _Entry(*place, 0)
        back(variable, self)

    def _changes_for(self, server: int) -> Sequence[Change]:
        """Returns updates that are to travel with the next message to a server."""
        return ()

    def _ask(
        self, server: int, wanted: _Wanted
    ) -> tuple[dict[Key, tuple[int, Array]], dict[Key, Array]]:
        changes = self._changes_for(server)
        return self._stores[server].exchange(changes, wanted.versions, wanted.rows)

    def _send(self, server: int, changes: Sequence[Change]) -> None:
        self._stores[server].push(changes)

    def _flush(self) -> None:
        """Creates on the servers the variables that were bound, and deletes those that have been gone for a while."""
        if self._gone:
            self._delete_gone()
        if not self._new and not self._new_slots:
            return
        # Another thread may be tracing, and have put other values in these variables.
        with LIFTING, self._lock:
            values: dict[int, dict[Key, Array]] = {}
            made: dict[int, _Entry] = {}
            alive: list[
                Any
            ] = []  # an entry of one that is gone would be that of the next one of its id
            for identity, reference in list(self._new.items()):
                alive.append(variable := reference())
                value = None if variable is None else _value(variable)
                if value is None:
                    continue  # Keras gives it a value later
                parts = 1
                # A constraint is on the whole value.
                divisible = value.ndim and getattr(variable, "constraint", None) is None
                if self._shards_of is not None and divisible:
                    parts = self._shards_of(value.shape, value.dtype)
                shards = self._placement.place(value.shape, value.dtype, parts)
                name = f"{self._session}/{next(self._numbers)}"
                keys = [(name, position) for position in range(len(shards))]
                for shard, key in zip(shards, keys, strict=True):
                    part = value[shard.start : shard.stop] if parts > 1 else value
                    values.setdefault(shard.server, {})[key] = part
                made[identity] = _Entry(value.shape, shards, keys, 1)
            for server, created in values.items():
                self._stores[server].create(created)
            # Only now, as other threads may use at once what is no longer new.
            self._entries |= made
            for identity in made:
                self._new.pop(identity, None)
            for identity, (reference, of, rule, position) in list(self._new_slots.items()):
                variable, trained = reference(), self._entries.get(of)
                if variable is not None and trained is not None:
                    keys = [(*key, rule, position) for key in trained.keys]
                    shards = trained.shards
                    if tuple(variable.shape) != tuple(trained.shape):  # one for all parts
                        keys, shards = keys[:1], shards[:1]
                    self._entries[identity] = _Entry(variable.shape, shards, keys, 0)
                    del self._new_slots[identity]

    def _delete_gone(self) -> None:
        keys: dict[int, list[Key]] = collections.defaultdict(list)
        with self._lock:
            while self._gone and self._gone[0][0] < time.monotonic() - _GONE_SECONDS:
                _, entry = self._gone.popleft()
                for shard, key in zip(entry.shards, entry.keys, strict=True):
                    keys[shard.server].append(key)
        for server, some in keys.items():
            self._stores[server].delete(some)

    def _delete(self, identity: int) -> None:
        entry = self._entries.get(identity)
        if entry is not None:
            self._gone.append((time.monotonic(), entry))
        self._forget(identity)

    def _forget(self, identity: int) -> None:
        self._entries.pop(identity, None)
        self._new.pop(identity, None)
        self._new_slots.pop(identity, None)


def takes(variable: LibraryVariable) -> bool:
    """Tells whether a variable may live on servers: each worker draws random numbers of its own."""
    adapter: Any = adapter_of(variable)
    return adapter.kind(variable) is not Kind.KEY


def _value(variable: LibraryVariable) -> Array | None:
    """Returns what a variable holds; None if that is no array yet."""
    adapter: Any = adapter_of(variable)
    value = adapter.get(variable)
    if not isinstance(value, jax.Array) or isinstance(value, Tracer):
        return None
    return np.asarray(value)  # no step takes the memory of a backed variable


def _newest(
    variable: LibraryVariable, entry: _Entry, found: Mapping[Key, tuple[int, Array]]
) -> Array:
    """Returns a variable's value, with the parts that came; notes their versions. The caller holds `LIFTING`."""
    if len(entry.keys) == 1:
        entry.versions[0], value = found[entry.keys[0]]
        return value
    adapter: Any = adapter_of(variable)
    whole = np.array(adapter.get(variable))
    for position, (shard, key) in enumerate(zip(entry.shards, entry.keys, strict=True)):
        if key in found:
            entry.versions[position], whole[shard.start : shard.stop] = found[key]
    return whole


def _give(variables: Sequence[LibraryVariable], values: Sequence[Array]) -> None:
    """Gives variables values, where the step left those before; all in one transfer. The caller holds `LIFTING`."""
    adapters: list[Any] = [adapter_of(variable) for variable in variables]
    olds = [adapter.get(variable) for adapter, variable in zip(adapters, variables, strict=True)]
    shardings = [
        old.sharding
        if isinstance(old, jax.Array) and old.committed and old.is_fully_addressable
        else None
        for old in olds
    ]
    # Without a copy, where JAX can: nobody writes the memory of these values, and no step may take it.
    arrays = jax.device_put(list(values), shardings)
    for adapter, variable, array in zip(adapters, variables, arrays, strict=True):
        adapter.set(variable, array)


def _by_shard(rows: Array, entry: _Entry) -> Iterator[tuple[int, Key, slice, int]]:
    """Divides sorted numbers of rows among the servers that hold them; tells a shard's first row, too."""
    for shard, key in zip(entry.shards, entry.keys, strict=True):
        first, last = np.searchsorted(rows, (shard.start, shard.stop))
        if first < last:
            yield shard.server, key, slice(int(first), int(last)), shard.start


def _summed(rows: SparseRows, size: int) -> tuple[Array, Array]:
    """Sorts rows by their number, and adds up those that occur several times; leaves out those that do not exist."""
    order = np.argsort(rows.indices, kind="stable")
    numbers = rows.indices[order]
    first, last = np.searchsorted(numbers, (0, size))
    order, numbers = order[first:last], numbers[first:last]
    starts = np.flatnonzero(np.diff(numbers, prepend=-1))
    values = rows.values[order]
    if len(starts) < len(values):
        values = np.add.reduceat(values, starts)
    return numbers[starts], values


def _changes(update: Update, entry: _Entry) -> Iterator[tuple[int, Change]]:
    """Divides an update among the servers that hold parts of the variable."""
    operand, verb = jax.tree.map(np.asarray, update.operand), update.verb
    parts = list(zip(entry.shards, entry.keys, strict=True))
    sparse = operand[0] if verb == "apply" else operand
    if isinstance(sparse, SparseRows):
        numbers, values = _summed(sparse, entry.shape[0])
        found = {
            key: (numbers[own] - start, values[own])
            for _, key, own, start in _by_shard(numbers, entry)
        }
        for shard, key in parts:
            index, rows = found.get(key, (numbers[:0], values[:0]))
            if verb == "apply":  # without rows, too: an optimizer may move all of them
                own = (SparseRows(index, rows), *operand[1:])
                yield shard.server, Change(key, verb, own, None, update.detail.key)
            elif len(index):
                yield shard.server, Change(key, verb, rows, (index,), is_unique=True)
    elif verb == "apply":
        gradient, *others = operand
        for shard, key in parts:
            own = gradient if len(parts) == 1 else gradient[shard.start : shard.stop]
            yield shard.server, Change(key, verb, (own, *others), None, update.detail.key)
    elif update.index is not None:
        places = [np.asarray(one) for one in update.index]
        count = places[0].ndim
        rows = np.broadcast_to(operand, (*places[0].shape, *entry.shape[len(places) :]))
        exists = np.ones(places[0].shape, bool)
        for one, size in zip(places, entry.shape, strict=False):
            exists &= (one >= 0) & (one < size)
        for shard, key in parts:
            own = exists & (places[0] >= shard.start) & (places[0] < shard.stop)
            if own.all() and count:
                index = (places[0] - shard.start, *places[1:])
                yield shard.server, Change(key, verb, rows, index)
            elif own.any():
                index = tuple(one[own] for one in (places[0] - shard.start, *places[1:]))
                yield shard.server, Change(key, verb, rows[own], index)
    elif len(parts) == 1:
        yield parts[0][0].server, Change(parts[0][1], verb, operand, update.detail)
    elif update.detail is None:
        whole = np.broadcast_to(operand, entry.shape)
        for shard, key in parts:
            yield shard.server, Change(key, verb, whole[shard.start : shard.stop])
    else:
        raise NotImplementedError(
            "A slice of a variable that is divided among parameter servers cannot be assigned. Assign the "
            "whole value, or rows: variable.scatter_nd_update(indices, rows)."
        )
