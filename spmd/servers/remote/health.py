"""Heartbeats: which tasks of a cluster answer, and what follows when one does not."""

import math
import os
import threading
from collections.abc import Callable, Sequence
from typing import Any

import ray
from ray.exceptions import RayActorError

from spmd.errors import ClusterConfigError
from spmd.servers.remote.calls import call
from spmd.servers.remote.errors import ServerLostError

# How often an actor is asked for a heartbeat, and how long that is waited for at a time.
BEAT_SECONDS = 2.0
# Of actors: who answers is a thread of its own, whatever the others do.
GROUPS = {"beat": 1}

_FROZEN_SECONDS = 60.0
_VARIABLE = "JAXTRIBUTE_FROZEN_SECONDS"


def frozen_seconds() -> float:
    """Returns after how many seconds without a heartbeat a task counts as frozen.

    A heartbeat needs Python's global lock, which tracing and compiling give away often, but a call into C may keep.

    Raises:
        ClusterConfigError: JAXTRIBUTE_FROZEN_SECONDS is no positive number.
    """
    text = os.environ.get(_VARIABLE, str(_FROZEN_SECONDS))
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not seconds > 0:
        raise ClusterConfigError(
            f"{_VARIABLE} must be a positive number of seconds, but is {text!r}. Set {_VARIABLE}=60, or unset it.",
            key=_VARIABLE,
        )
    return seconds


def wait(references: "Sequence[ray.ObjectRef[Any]]", seconds: float) -> bool:
    """Waits until one of some replies is there; returns whether one is.

    Args:
        references: of the replies.
        seconds: how long to wait. Time in which this process itself was stopped does not count.
    """
    for _ in range(math.ceil(seconds / BEAT_SECONDS)):
        if call(ray.wait, [*references], timeout=BEAT_SECONDS)[0]:
            return True
    return False


def lost(name: str, reason: str) -> ServerLostError:
    """Returns the error that tells of a lost server.

    Args:
        name: of the server's task, such as `ps_0`.
        reason: why it counts as lost.
    """
    return ServerLostError(
        f"The parameter server {name.replace('_', ' ')} is gone, and with it the values that it held: {reason}.",
        "Once its task runs again, make the strategy and the model anew, and restore the last checkpoint: in this program, "
        "which catches this error, or in a new one.",
    )


def reason_of(error: Exception) -> str:
    """Says in plain words why a task that was asked something counts as lost."""
    if isinstance(error, RayActorError):
        return "its process ended, or cannot be reached"
    return f"it cannot be asked whether it is there ({type(error).__name__})"


class Health:
    """Whether all parameter servers of a cluster are there; shared by all that talks to them.

    The loss of one is the end of the cluster: values are missing, and the workers can do nothing without them.

    """

    # Tells of the first server that was lost; None while all are there. Not an exception: one that is raised again and
    # again collects tracebacks, which keep alive all that its callers had.
    _loss: tuple[str, str] | None = None

    def __init__(self, stores: Sequence[tuple[Any, str]], release: Callable[[], None]) -> None:
        """Begins to ask the servers for heartbeats, on a thread for each.

        Args:
            stores: handles and names of the parameter servers.
            release: ends what runs in the cluster's tasks.
        """
        self._release, self._frozen_seconds = release, frozen_seconds()
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        for actor, name in stores:
            threading.Thread(
                target=self._watch, args=(actor, name), name=f"heartbeats of {name}", daemon=True
            ).start()

    def check(self) -> None:
        """Raises the error, if a server was lost."""
        if self._loss is not None:
            raise ServerLostError(*self._loss)

    @property
    def has_stopped(self) -> bool:
        """Whether the cluster has ended."""
        return self._stopped.is_set()

    def fail(self, error: ServerLostError) -> ServerLostError:
        """Has the cluster end, since a server was lost; returns an error that tells of the first one."""
        with self._lock:
            if self._loss is None:
                self._loss = error.loss, error.remedy
                self.stop()
            return ServerLostError(*self._loss)

    def stop(self) -> None:
        """Asks no more, and ends what runs in the cluster's tasks; a second call changes nothing."""
        if not self._stopped.is_set():
            self._stopped.set()
            self._release()

    def _watch(self, actor: Any, name: str) -> None:
        while not self._stopped.wait(BEAT_SECONDS):
            try:
                beat = call(actor.beat.remote)
                reason = f"it has not answered for {self._frozen_seconds:.0f} s"
                if wait([beat], self._frozen_seconds):
                    call(ray.get, beat)
                    continue
            except Exception as error:  # whatever Ray makes of a task, or a cluster, that is gone
                reason = reason_of(error)
            if not self._stopped.is_set():
                self.fail(lost(name, reason))
