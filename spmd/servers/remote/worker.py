"""A worker of a coordinator, in another process."""

import functools
import threading
import uuid
from collections.abc import Callable, Sequence
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, RayActorError

from spmd.servers.coordinator import Worker, WorkerLostError
from spmd.servers.remote.calls import call
from spmd.servers.remote.errors import ServerLostError
from spmd.servers.remote.health import BEAT_SECONDS, Health, frozen_seconds, reason_of, wait
from spmd.servers.remote.shared_objects import Sender
from spmd.servers.remote_value import Late

_AT_ONCE = 16


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
        self,
        actor: Any,
        index: int,
        stores: Sequence[Any],
        health: Health,
        sender: Sender,
        here: Worker,
    ) -> None:
        """Makes what stands for a worker, which it begins to set up.

        Args:
            actor: handle of a `WorkerActor`.
            index: of the worker.
            stores: handles and names of the parameter servers.
            health: of these.
            sender: packs closures.
            here: calls a closure in this process, for one that makes variables.
        """
        self._actor, self._index, self._stores = actor, index, stores
        self._health, self._sender, self._here = health, sender, here
        self._frozen_seconds = frozen_seconds()
        self._setting_up: Any = None
        self._start()

    def run(self, closures: Sequence[Callable[..., Any]], finish: Callable[[Any], None]) -> None:
        """Sends closures, and waits for their results; see `spmd.servers.Worker`."""
        waiting = list(closures)
        if self._setting_up is not None:
            self._reply(self._setting_up)
            self._setting_up = None
        while waiting:
            with self._making:
                package = self._sender.pack(waiting, self._known)
            reply = self._reply(call(self._actor.run.remote, self._session, package))
            if reply.is_new:
                raise self._lost("its process was started anew")
            for result in reply.results:
                finish(Late(functools.partial(self._sender.load, result)))
            del waiting[: len(reply.results)]
            if reply.made_variables:
                with self._making:
                    try:
                        self._here.run([waiting.pop(0)], finish)
                    finally:
                        self._sender.reset()
            elif reply.error is not None:
                dumped, text = reply.error
                error = self._sender.load(dumped)
                if isinstance(error, ServerLostError):
                    error = self._health.fail(error)
                raise error from RemoteTraceback(text)

    def restore(self) -> bool:
        """Tells whether the worker is back; Ray starts its process again when its node is back.

        Raises:
            ServerLostError: a parameter server was lost, and the worker is of no use.
        """
        self._health.check()
        if self._setting_up is None:
            self._start()
        setting_up: Any = self._setting_up
        try:
            if not wait([setting_up], BEAT_SECONDS):
                self._silent += BEAT_SECONDS
                if self._silent > self._frozen_seconds:
                    self._kill()
                return False
            call(ray.get, setting_up)
        except RayActorError:
            self._setting_up = None
            return False
        self._setting_up = None
        print(f"Worker {self._index} is back.", flush=True)
        return True

    def _start(self) -> None:
        """Has the worker forget what it has."""
        self._session, self._silent = uuid.uuid4().hex, 0.0
        self._known = self._sender.join()
        set_up = self._actor.set_up.remote
        self._setting_up = call(set_up, self._session, self._index, self._stores)

    def _reply(self, reference: Any) -> Any:
        """Waits for a reply as long as the worker's heart beats.

        Raises:
            WorkerLostError: the worker is gone, or has not answered for long.
            ServerLostError: it was ended since a parameter server was lost.
        """
        while True:
            self._health.check()
            try:
                return call(ray.get, reference, timeout=BEAT_SECONDS)
            except GetTimeoutError:
                pass
            except RayActorError as error:
                raise self._lost(reason_of(error)) from None
            if not wait([reference, call(self._actor.beat.remote)], self._frozen_seconds):
                self._kill()
                raise self._lost(f"it has not answered for {self._frozen_seconds:.0f} s")

    def _lost(self, reason: str) -> WorkerLostError:
        self._health.check()
        self._setting_up = None
        message = f"Worker {self._index} is gone: {reason}. What it was running runs elsewhere."
        print(message, flush=True)
        return WorkerLostError(message)

    def _kill(self) -> None:
        """Ends the worker's process, if it can be reached; Ray starts another one."""
        self._setting_up = None
        call(ray.kill, self._actor, no_restart=False)
