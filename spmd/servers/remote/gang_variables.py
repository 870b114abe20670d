"""Variables whose values live in the processes of a gang, which all have them, and are copies in the program."""

import contextlib
import threading
import weakref
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from spmd.servers.remote.shared_objects import receiving
from spmd.state import LIFTING, Update, adapter_of, back
from spmd.topology import layout_of, readable
from spmd.typing import LibraryVariable, PyTree

_SMALL_BYTES = 4096
_MANY = 256  # small variables that come together, at most
# Calls a function of the processes and returns its result.
Call = Callable[[Callable[[], Any]], Any]


class GangVariables:
    """The backing of variables that have been sent to a gang; safe to use from several threads.

    A variable is the program's own until a closure first takes it there. From then on its copy here is fetched when
    the program reads it and something ran since, and sent with the next closure when the program has written it.
    """

    takes_updates = False

    def __init__(self, call: Call) -> None:
        """Makes the backing.

        Args:
            call: has the gang call a function, waits, and returns what it returned in the first process.
        """
        self._call = call
        # Taken after `LIFTING` by whoever needs both.
        self._lock = threading.RLock()
        self._known: dict[int, weakref.ref[Any]] = {}
        self._stale: set[int] = set()
        self._written: dict[int, LibraryVariable] = {}
        self._read_large = False
        self._sent = 0
        # For each variable, how many closures had been sent before its value came.
        self._fetched: dict[int, int] = {}
        self._thread = threading.local()

    def share(self, variable: LibraryVariable) -> None:
        """Notes that a variable is about to be sent, with its value."""
        with self._lock:
            if id(variable) not in self._known:
                self._known[id(variable)] = weakref.ref(variable)
                weakref.finalize(variable, self._forget, id(variable))
                back(variable, self)
            self._written.pop(id(variable), None)

    def adopt(self, variable: LibraryVariable, place: Any) -> None:
        """Never called: variables arrive with their values."""
        raise AssertionError

    def take_written(self) -> list[tuple[LibraryVariable, PyTree]]:
        """Returns the variables that the program has written, with their values; they count as sent."""
        with LIFTING, self._lock:
            written = [(one, _on_host(_adapter(one).get(one))) for one in self._written.values()]
            self._written.clear()
        return written

    def expire(self) -> None:
        """Called when a closure was sent, which may change any variable."""
        with self._lock:
            self._sent += 1
            self._stale.update(self._known)
            self._read_large = False

    def refresh(self, variables: Sequence[LibraryVariable]) -> None:
        """Fetches those variables whose values may have changed; blocks until they have come.

        Small ones come together, as those of metrics are read. Who reads several large ones, as a checkpoint does, gets
        the rest with the second.
        """
        if not any(id(one) in self._stale for one in variables):
            return
        with self._fetching() as is_first:
            if is_first:
                with LIFTING, self._lock:
                    wanted = [one for one in variables if id(one) in self._stale]
                    wanted = self._with_others(wanted) if wanted else []
                    sent = self._sent
                self._fetch(wanted, sent)

    def refresh_all(self) -> None:
        """Fetches all variables whose values may have changed."""
        with self._fetching() as is_first:
            if is_first:
                with self._lock:
                    wanted, sent = self.all(stale=True), self._sent
                self._fetch(wanted, sent)

    def all(self, *, stale: bool = False) -> list[LibraryVariable]:
        """Lists the variables that the gang has."""
        with self._lock:
            chosen = [self._known[one] for one in self._stale] if stale else self._known.values()
            return [one for reference in list(chosen) if (one := reference()) is not None]

    def push(self, updates: Sequence[Update]) -> None:
        """Notes that the program has written variables, whose copies here have the new values."""
        if self._is_fetching():
            return
        with self._lock:
            for update in updates:
                self._written[id(update.variable)] = update.variable
                self._stale.discard(id(update.variable))

    @contextlib.contextmanager
    def _fetching(self) -> Generator[bool]:
        """Marks that this thread fetches values; gives False if it does already.

        Meanwhile what stands for another variable reads and writes that one.
        """
        if self._is_fetching():
            yield False
            return
        self._thread.fetches = True
        try:
            yield True
        finally:
            self._thread.fetches = False

    def _is_fetching(self) -> bool:
        return getattr(self._thread, "fetches", False)

    def _with_others(self, wanted: list[LibraryVariable]) -> list[LibraryVariable]:
        others = self.all(stale=True)
        if any(_bytes(one) > _SMALL_BYTES for one in wanted):
            wanted = others if self._read_large else wanted
            self._read_large = True
            return wanted
        small = [one for one in others if _bytes(one) <= _SMALL_BYTES]
        return wanted + [one for one in small[:_MANY] if all(one is not each for each in wanted)]

    def _fetch(self, variables: list[LibraryVariable], sent: int) -> None:
        """Fetches variables.

        Args:
            variables: to fetch.
            sent: how many closures had been sent when they were chosen. Their values may be those after a later one.
        """
        if not variables:
            return
        values = self._call(
            _Read(variables)
        )  # without the lock, which a thread that sends needs, too
        with LIFTING, self._lock:
            for variable, value in zip(variables, values, strict=True):
                identity = id(variable)
                is_older = sent < self._fetched.get(identity, 0)
                # Meanwhile another thread may have fetched it, or the program has written it.
                if identity not in self._stale or identity in self._written or is_older:
                    continue
                if value is not None:
                    _adapter(variable).set(variable, jax.tree.map(jnp.asarray, value))
                self._fetched[identity] = sent
                if sent == self._sent:
                    self._stale.discard(identity)

    def _forget(self, identity: int) -> None:
        self._known.pop(identity, None)
        self._stale.discard(identity)
        self._written.pop(identity, None)
        self._fetched.pop(identity, None)


class _Read:
    """Reads variables in a process of a gang."""

    def __init__(self, variables: Sequence[LibraryVariable]) -> None:
        self._wanted = list(variables)

    def __call__(self) -> list[PyTree]:
        return [_value(variable) for variable in self._wanted]


def write(values: Iterable[tuple[LibraryVariable, PyTree]]) -> None:
    """Gives variables values, in a process of a gang."""
    for variable, value in values:
        _adapter(variable).set(variable, jax.tree.map(jnp.asarray, value))


def _bytes(variable: LibraryVariable) -> int:
    return sum(
        getattr(leaf, "nbytes", 0) for leaf in jax.tree.leaves(_adapter(variable).get(variable))
    )


def _value(variable: LibraryVariable) -> PyTree:
    value = _adapter(variable).get(variable)
    return _on_host(jax.tree.map(_whole, value))


def _whole(array: jax.Array) -> jax.Array:
    """Returns an array that this process can read; all processes must call it for one that is divided."""
    if array.is_fully_addressable or array.is_fully_replicated:
        return readable(array)
    receiver = receiving()
    assert receiver is not None
    whole = layout_of(receiver.mesh).whole
    return readable(jax.jit(lambda one: one, out_shardings=whole)(array))


def _on_host(value: PyTree) -> PyTree:
    def one(leaf: Any) -> Any:
        is_key = isinstance(leaf, jax.Array) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
        return np.array(leaf) if isinstance(leaf, jax.Array) and not is_key else leaf

    return jax.tree.map(one, value)


def _adapter(variable: LibraryVariable) -> Any:
    return adapter_of(variable)
