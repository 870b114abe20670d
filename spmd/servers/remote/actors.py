"""What runs in the processes of the tasks: a store for a parameter server, a loop over closures for a worker."""

import dataclasses
import pickle
import threading
import traceback
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np
import ray
from ray.exceptions import GetTimeoutError, RayActorError, RayTaskError

from spmd.servers.remote.calls import call
from spmd.servers.remote.channel import Channel, FailedCallError, ServedChannel, serve
from spmd.servers.remote.errors import MadeVariablesError, ServerLostError
from spmd.servers.remote.health import BEAT_SECONDS, Health, lost, reason_of
from spmd.servers.remote.messages import parts_of, unpack
from spmd.servers.remote.nodes import print_to_task, tell_done, tell_of_program
from spmd.servers.remote.shared_objects import Package, Receiver, dumps
from spmd.servers.remote.worker_variables import WorkerVariables
from spmd.servers.rules import Array, Rule
from spmd.servers.store import Change, Key, Store, UnknownVariableError
from spmd.state import adapters, merging_writes
from spmd.topology import leave_out_absent_accelerators, local_devices, make_mesh


class StoreActor(Store):
    """A `Store` whose rules arrive pickled, and which owns the memory of its values."""

    def __init__(self) -> None:
        tell_of_program()
        super().__init__()
        self._channels: dict[str, ServedChannel] = {}

    def answer(self, message: bytes) -> bytes:
        """Calls the method that a message names; returns the message with its result."""
        return b"".join(self._parts(message)[0])

    def connect(self, client: str, path: str, mark: bytes) -> bool:
        """Opens a channel to a client; returns whether it is on this machine.

        A process that was started in place of the client closes its channel: what it still does runs elsewhere.
        """
        former = self._channels.pop(client, None)
        if former is not None:
            former.close()
        channel = serve(path, mark, self._parts, dump_error)
        if channel is not None:
            self._channels[client] = channel
        return channel is not None

    def _parts(self, message: bytes | memoryview) -> tuple[Sequence[Any], int]:
        method, *arguments = unpack(message)
        return parts_of(getattr(self, method)(*arguments))

    def create(self, values: Mapping[Key, Array], *, shared: bool = False) -> None:
        """See `Store.create`; the arrays of messages are views."""
        super().create({key: value.copy() for key, value in values.items()}, shared=shared)

    def push(self, changes: Sequence[Change]) -> None:
        """See `Store.push`; the arrays of messages are views."""
        super().push([_owned(one) if one.verb == "set" else one for one in changes])

    def take_rules(self, rules: bytes) -> None:
        """See `Store.add_rules`."""
        self.add_rules(pickle.loads(rules))  # noqa: S301 -- over Ray's authenticated channel

    def finish(self) -> None:
        """Tells the task that the program is done."""
        tell_done()

    @ray.method(concurrency_group="beat")
    def beat(self) -> None:
        """Tells that the server is there, whatever else it does."""


def _owned(change: Change) -> Change:
    return dataclasses.replace(change, operand=jax.tree.map(np.array, change.operand))


class RemoteStore:
    """A `Store` in another process, reached by a channel if both are on one machine, or else by Ray."""

    def __init__(self, actor: Any, name: str, client: str, health: Health | None = None) -> None:
        """Makes what stands for a store.

        Args:
            actor: handle of a `StoreActor`.
            name: of the task.
            client: name of this process; the store closes the channel to a former one of this name.
            health: knows when the server counts as frozen; None in a worker, which the coordinator ends then.
        """
        self._actor, self._name, self._client, self._health = actor, name, client, health
        self._channel: Channel | None = None
        self._is_near = True
        self._is_replaced = False
        self._lock = threading.Lock()

    def create(self, values: Mapping[Key, Array]) -> None:
        """See `Store.create`."""
        self._call("create", values)

    def delete(self, keys: Sequence[Key]) -> None:
        """See `Store.delete`."""
        self._call("delete", keys)

    def add_rules(self, rules: Sequence[Rule]) -> None:
        """See `Store.add_rules`."""
        self._get(self._actor.take_rules, dumps(list(rules)))

    def push(self, changes: Sequence[Change]) -> None:
        """See `Store.push`."""
        self._call("push", changes)

    def exchange(
        self, changes: Sequence[Change], versions: Mapping[Key, int], rows: Mapping[Key, Array]
    ) -> tuple[dict[Key, tuple[int, Array]], dict[Key, Array]]:
        """See `Store.exchange`."""
        return self._call("exchange", changes, versions, rows)

    def _call(self, method: str, *arguments: Any) -> Any:
        if self._is_replaced:  # a new channel would close its successor's
            raise self._replaced()
        parts, size = parts_of((method, *arguments))
        if self._is_near:
            with self._lock:
                channel = self._channel = self._channel or self._opened()
                self._is_near = channel is not None
                if channel is not None and channel.fits(size):
                    return unpack(self._call_near(channel, parts, size))
        return unpack(self._get(self._actor.answer, b"".join(parts)))

    def _call_near(self, channel: Channel, parts: Sequence[Any], size: int) -> bytes | memoryview:
        try:
            return channel.call(parts, size, BEAT_SECONDS, self._check)
        except FailedCallError as failed:
            error = pickle.loads(failed.dumped)  # noqa: S301 -- of a process that Ray has authenticated
            if isinstance(error, UnknownVariableError):
                raise ServerLostError(str(error)) from None
            raise error from None
        except BaseException as error:
            self._channel = None  # its answer may still come
            channel.close()
            if isinstance(error, ConnectionError):
                self._get(self._actor.beat)  # says what has happened to the server
                self._is_replaced = True
                raise self._replaced() from None
            raise

    def _replaced(self) -> ConnectionError:
        return ConnectionError(f"Another process has been started in place of this {self._client}.")

    def _opened(self) -> Channel | None:
        connect = self._actor.connect
        return Channel.open(lambda *invitation: self._get(connect, self._client, *invitation))

    def _check(self) -> None:
        if self._health is not None:
            self._health.check()

    def _get(self, method: Any, *arguments: Any) -> Any:
        """Calls a method of the store, and returns what it does."""
        timeout = None if self._health is None else BEAT_SECONDS
        reference: Any = call(method.remote, *arguments)
        while True:
            self._check()
            try:
                return call(ray.get, reference, timeout=timeout)
            except GetTimeoutError:
                continue
            except RayActorError as error:
                gone = lost(self._name, reason_of(error))
                raise gone if self._health is None else self._health.fail(gone) from None
            except RayTaskError as error:
                if isinstance(error.cause, UnknownVariableError):
                    raise ServerLostError(str(error.cause)) from None
                raise


@dataclasses.dataclass
class Reply:
    """What came of some closures.

    Attributes:
        results: pickled, of those that have run, in their order.
        error: what the next one raised, and where; None if all have run.
        made_variables: whether it did not run since it would have made variables.
        is_new: whether none has run, since the worker's process was started anew.
    """

    results: list[bytes]
    error: tuple[bytes, str] | None = None
    made_variables: bool = False
    is_new: bool = False


class WorkerActor:
    """Calls closures, one after the other."""

    _session: str | None = None

    def set_up(self, session: str, index: int, stores: Sequence[tuple[Any, str]]) -> None:
        """Prepares a worker, which then has nothing yet.

        Args:
            session: tells this time from others.
            index: of the worker.
            stores: handles and names of the parameter servers.
        """
        tell_of_program()
        print_to_task()
        self._index = index
        self._backing = WorkerVariables(
            [RemoteStore(actor, name, f"worker_{index}") for actor, name in stores]
        )
        leave_out_absent_accelerators()
        mesh = make_mesh(local_devices()[:1])
        self._receiver = Receiver(mesh, self._backing)
        for adapter in adapters():
            adapter.on_thread()()
        self._session = session

    def run(self, session: str, package: Package) -> Reply:
        """Calls the closures of a package, up to the first error.

        Args:
            session: that of `set_up` which the package builds on.
            package: the closures.
        """
        if session != self._session:  # Ray has started the process anew between two packages
            return Reply([], is_new=True)
        reply = Reply([])
        try:
            self._backing.begin()
            for closure in self._receiver.unpack(package):
                self._backing.begin_closure()
                with merging_writes():
                    result = jax.block_until_ready(closure(self._index))
                if self._backing.refused:
                    raise MadeVariablesError
                reply.results.append(dumps(result))
        except BaseException as error:
            reply.made_variables = self._backing.refused
            if reply.made_variables:
                self._backing.undo()  # the coordinator calls the closure again
            reply.error = dump_error(error), traceback.format_exc()
        try:
            self._backing.send()
        except BaseException as error:  # what the closures did is lost
            reply = Reply([], (dump_error(error), traceback.format_exc()))
        return reply

    def finish(self) -> None:
        """Tells the task that the program is done."""
        tell_done()

    @ray.method(concurrency_group="beat")
    def beat(self) -> None:
        """Tells that the worker is there, while closures run."""


def dump_error(error: BaseException) -> bytes:
    """Pickles an error; one that cannot be pickled is described."""
    try:
        dumped = dumps(error)
        pickle.loads(dumped)  # noqa: S301 -- our own
    except Exception:
        return dumps(RuntimeError(f"{type(error).__name__}: {error}"))
    return dumped
