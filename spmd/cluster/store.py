"""Small texts that all processes share: how they agree on numbers without a collective.

It is the key-value store of JAX's coordination service, with waits that end. In a process that has joined no
cluster it is a dictionary, so that callers need not ask.
"""

import threading
import time
from collections.abc import Callable
from typing import Any

import jax

from spmd import _jax_internals
from spmd.cluster import runtime
from spmd.cluster.progress import progress
from spmd.errors import ClusterWaitError, StoreKeyError

# Whoever leaves a wait that nobody needs any more may have to wait so long.
_ASK_SECONDS = 0.25
_SIGNAL_SECONDS = 1.0  # in between, Python handles Ctrl-C and SIGTERM

_PREFIX = "jaxtribute/"
_alone: dict[str, str] = {}
_rounds: dict[str, int] = {}
_lock = threading.Lock()


def put(key: str, text: str) -> None:
    """Stores a text for all processes; does not wait for them.

    Args:
        key: its name, which nobody has used yet.
        text: the text.

    Raises:
        StoreKeyError: the key is taken.

    Examples:
        >>> put("docs/put", "12")
        >>> peek("docs/put")
        '12'
    """
    client = _jax_internals.coordination_client()
    if client is None:
        if key in _alone:
            raise _taken(key)
        _alone[key] = text
        return
    try:
        client.key_value_set(_PREFIX + key, text)
    except jax.errors.JaxRuntimeError as error:
        if "ALREADY_EXISTS" not in str(error):
            raise
        raise _taken(key) from error


def peek(key: str) -> str | None:
    """Reads a text if it is there; does not wait for it.

    Args:
        key: its name.

    Returns:
        The text, or None.

    Examples:
        >>> peek("docs/peek") is None
        True
    """
    client = _jax_internals.coordination_client()
    if client is None:
        return _alone.get(key)
    try:
        return client.key_value_try_get(_PREFIX + key)
    except jax.errors.JaxRuntimeError as error:
        if "NOT_FOUND" not in str(error):
            raise
        return None


def all_gather_small(
    key: str,
    text: str,
    timeout_seconds: float | None = None,
    *,
    wanted: Callable[[], bool] | None = None,
) -> tuple[str, ...]:
    """Gives every process what each one says; blocks, and every process must call it.

    Args:
        key: what this is about. It may be used again: the processes' n-th calls with a key belong together.
        text: what this process says; short, since process 0 keeps and serves it.
        timeout_seconds: how long to wait for the others; None takes `runtime.wait_seconds`.
        wanted: asked now and then while it waits; once it says no, the time is over.

    Returns:
        The texts, by process.

    Raises:
        ClusterWaitError: some process has not called it in that time; the message names which.

    Examples:
        >>> all_gather_small("steps", "12", 5.0)  # in one process
        ('12',)
    """
    client = _jax_internals.coordination_client()
    if client is None:
        return (text,)
    me, names = runtime.process_id(), runtime.task_names()
    with _lock:
        number = _rounds[key] = _rounds.get(key, 0) + 1
    put(f"{key}/{number}/{me}", text)
    if timeout_seconds is None:
        timeout_seconds = runtime.wait_seconds()
    deadline = time.monotonic() + timeout_seconds

    def left() -> float:
        return deadline - time.monotonic() if wanted is None or wanted() else 0.0

    at_once = _ASK_SECONDS if wanted else _SIGNAL_SECONDS
    with progress.calling(f"{key} ({number})"):
        texts = [
            _read(client, f"{key}/{number}/{process}", left, at_once)
            for process in range(len(names))
        ]
    missing = [names[process] for process, one in enumerate(texts) if one is None]
    if missing:
        raise ClusterWaitError(
            f"{names[me]} waited {timeout_seconds:g} s for {', '.join(missing)} to say its {key!r}. Expected all "
            f"of {len(names)} tasks to make this call (its number {number} here); {len(names) - len(missing)} did. "
            "Take it out of code that only some tasks run, such as `if is_chief:`. If they only need longer, "
            "raise its timeout, or JAXTRIBUTE_WATCHDOG_SECONDS, which is 600 if it is not set.",
            missing=missing,
        )
    # Whoever has come this far has read all of the former round, so nobody needs its own text of it any more.
    if number > 1:
        client.key_value_delete(f"{_PREFIX}{key}/{number - 1}/{me}")
    return tuple(one for one in texts if one is not None)


def _read(client: Any, key: str, left: Callable[[], float], at_once: float) -> str | None:
    while True:
        # After the time is over, what is there is still read: so all who are missing are known, not the first.
        milliseconds = max(1, round(min(left(), at_once) * 1000))
        try:
            return client.blocking_key_value_get(_PREFIX + key, milliseconds)
        except jax.errors.JaxRuntimeError as error:
            if "DEADLINE_EXCEEDED" not in str(error):
                raise
        if left() <= 0:
            return None


def _taken(key: str) -> StoreKeyError:
    return StoreKeyError(
        f"{key!r} is stored already. Use a key once, with a number in it for instance, or all_gather_small, which "
        "counts by itself."
    )
