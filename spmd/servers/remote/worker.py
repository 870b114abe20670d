"""A worker of a coordinator, in another process."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, RayActorError

from spmd.servers.coordinator import Worker, WorkerLostError
from spmd.servers.remote.shared_objects import Sender

_AT_ONCE = 16
_PING_SECONDS = 5.0


class RemoteTraceback(Exception):
    """Where a closure failed, as its worker saw it: the cause of the error that the coordinator raises."""

    def __init__(self, text: str) -> None:
        super().__init__(f"\n{text}")


class RemoteWorker:
    """Has an actor call closures; see `spmd.servers.Worker`.

    Attributes:
        at_once: how many closures go in one message, at most.
    """

    at_once = _AT_ONCE
    # Held while variables are made, which must not be sent half done.
    _making = threading.RLock()

    def __init__(
        self, actor: Any, index: int, stores: Sequence[Any], sender: Sender, here: Worker
    ) -> None:
        """Makes what stands for a worker.

        Args:
            actor: handle of a `WorkerActor`.
            index: of the worker.
            stores: handles and names of the parameter servers.
            sender: packs closures.
            here: calls a closure in this process, for one that makes variables.
        """
        self._actor, self._index, self._stores = actor, index, stores
        self._sender, self._here = sender, here
        self._known = sender.join()
        ray.get(actor.set_up.remote(index, stores))

    def run(self, closures: Sequence[Callable[..., Any]], finish: Callable[[Any], None]) -> None:
        """Sends closures, and waits for their results; see `spmd.servers.Worker`."""
        waiting = list(closures)
        while waiting:
            with self._making:
                package = self._sender.pack(waiting, self._known)
            try:
                reply: Any = ray.get(self._actor.run.remote(package))
            except RayActorError as error:
                raise WorkerLostError(f"The worker {self._index} is gone: {error}") from None
            for result in reply.results:
                finish(self._sender.load(result))
            del waiting[: len(reply.results)]
            if reply.made_variables:
                with self._making:
                    try:
                        self._here.run([waiting.pop(0)], finish)
                    finally:
                        self._sender.reset()
            elif reply.error is not None:
                dumped, text = reply.error
                raise self._sender.load(dumped) from RemoteTraceback(text)

    def restore(self) -> bool:
        """Tells whether the worker is back; Ray starts its process again when its node is back."""
        try:
            ray.get(self._actor.set_up.remote(self._index, self._stores), timeout=_PING_SECONDS)
        except (RayActorError, GetTimeoutError):
            return False
        self._known = self._sender.join()
        return True
