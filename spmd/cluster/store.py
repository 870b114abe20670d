"""Small texts that all processes share: how they agree on values without a collective.

In a cluster the *store* is the key-value store of JAX's coordination service, with bounded waits; in a process
that has joined none it is a dictionary. So callers need not ask which they are in.
"""

import threading
import time
from collections.abc import Callable
from typing import Protocol

import jax

from spmd import _jax_internals
from spmd.cluster import runtime
from spmd.cluster.progress import progress
from spmd.errors import ClusterWaitError, StoreKeyError

# How long it may take to leave a wait that is no longer wanted.
_WANTED_SECONDS = 0.25
_SIGNAL_SECONDS = 1.0  # in between, Python handles Ctrl-C and SIGTERM
_PREFIX = "jaxtribute/"
_Wanted = Callable[[], bool] | None


class LocalStore:
    """The store of a process in no cluster."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def put(self, key: str, text: str) -> None:
        """Stores a text."""
        if key in self._texts:
            raise _taken(key)
        self._texts[key] = text

    def peek(self, key: str) -> str | None:
        """Reads a text if it is there."""
        return self._texts.get(key)

    def gather(
        self, key: str, text: str, seconds: float | None, wanted: _Wanted
    ) -> tuple[str, ...]:
        """Gives this process its own text."""
        return (text,)


class _Client(Protocol):
    """What is used of the client of JAX's coordination service.

    Its errors say ALREADY_EXISTS, NOT_FOUND and, after the wait, DEADLINE_EXCEEDED.
    """

    def key_value_set(self, key: str, value: str, /) -> None: ...
    def key_value_try_get(self, key: str, /) -> str: ...
    def blocking_key_value_get(self, key: str, milliseconds: int, /) -> str: ...
    def key_value_delete(self, key: str, /) -> None: ...


class CoordinationStore:
    """The store of JAX's coordination service."""

    def __init__(self, client: _Client) -> None:
        self.client = client
        self._rounds: dict[str, int] = {}
        self._lock = threading.Lock()

    def put(self, key: str, text: str) -> None:
        """Stores a text for all processes."""
        try:
            self.client.key_value_set(_PREFIX + key, text)
        except jax.errors.JaxRuntimeError as error:
            if "ALREADY_EXISTS" not in str(error):
                raise
            raise _taken(key) from error

    def peek(self, key: str) -> str | None:
        """Reads a text if it is there."""
        try:
            return self.client.key_value_try_get(_PREFIX + key)
        except jax.errors.JaxRuntimeError as error:
            if "NOT_FOUND" not in str(error):
                raise
            return None

    def gather(
        self, key: str, text: str, seconds: float | None, wanted: _Wanted
    ) -> tuple[str, ...]:
        """Gives every process the text of each."""
        me, names = runtime.process_id(), runtime.task_names()
        with self._lock:
            number = self._rounds[key] = self._rounds.get(key, 0) + 1
        self.put(f"{key}/{number}/{me}", text)
        seconds = runtime.wait_seconds() if seconds is None else seconds
        deadline = time.monotonic() + seconds

        def left() -> float:
            return deadline - time.monotonic() if wanted is None or wanted() else 0.0

        slice_seconds = _WANTED_SECONDS if wanted else _SIGNAL_SECONDS
        texts: list[str | None] = []
        with progress.calling(f"{key} ({number})") as waits_for:
            for process in range(len(names)):
                waits_for(process)
                texts.append(self._wait_for(f"{key}/{number}/{process}", left, slice_seconds))
        missing = [names[process] for process, one in enumerate(texts) if one is None]
        if missing:
            raise ClusterWaitError(
                f"{names[me]} waited {seconds:g} s for {', '.join(missing)} to say its {key!r}. Expected all "
                f"of {len(names)} tasks to make this call (its number {number} here); {len(names) - len(missing)} did. "
                "Take it out of code that only some tasks run, such as `if is_chief:`. If they only need longer, "
                "raise its timeout, or JAXTRIBUTE_WATCHDOG_SECONDS, which is 600 if it is not set.",
                missing=missing,
            )
        # All processes have put their text of this round, so they have read the round before.
        if number > 1:
            self.client.key_value_delete(f"{_PREFIX}{key}/{number - 1}/{me}")
        return tuple(one for one in texts if one is not None)

    def _wait_for(self, key: str, left: Callable[[], float], slice_seconds: float) -> str | None:
        while True:
            # Texts that are there are read even after the deadline, so that all who are missing get named.
            milliseconds = max(1, round(min(left(), slice_seconds) * 1000))
            try:
                return self.client.blocking_key_value_get(_PREFIX + key, milliseconds)
            except jax.errors.JaxRuntimeError as error:
                if "DEADLINE_EXCEEDED" not in str(error):
                    raise
            if left() <= 0:
                return None


def all_gather_small(
    key: str, text: str, timeout_seconds: float | None = None, *, wanted: _Wanted = None
) -> tuple[str, ...]:
    """Gives every process the text of each; blocks, and every process must call it.

    Args:
        key: what this is about. It may be used again: the processes' n-th calls with a key belong together.
        text: this process's text; short, since process 0 keeps and serves it.
        timeout_seconds: how long to wait for the others; None takes `runtime.wait_seconds`.
        wanted: called now and then while it waits; once it returns False, the wait times out at once.

    Returns:
        The texts, by process.

    Raises:
        ClusterWaitError: some process has not called it in that time; the message names which.

    Examples:
        >>> all_gather_small("steps", "12", 5.0)  # in one process
        ('12',)
    """
    return current().gather(key, text, timeout_seconds, wanted)


_local = LocalStore()  # tests put their own in its place
_shared: CoordinationStore | None = None
_lock = threading.Lock()


def current() -> LocalStore | CoordinationStore:
    """Returns the store of the cluster that this process is in, or its own.

    Neither `put`, which raises StoreKeyError if the key is taken, nor `peek` waits for other processes.

    Examples:
        >>> current().put("docs/put", "12")
        >>> current().peek("docs/put")
        '12'
    """
    global _shared
    client = _jax_internals.coordination_client()
    if client is None:
        return _local
    with _lock:
        if _shared is None or _shared.client is not client:
            _shared = CoordinationStore(client)
        return _shared


def _taken(key: str) -> StoreKeyError:
    return StoreKeyError(
        f"{key!r} is stored already. Use a key once, with a number in it for instance, or all_gather_small, which "
        "counts by itself."
    )
