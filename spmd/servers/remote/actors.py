"""What runs in the processes of the tasks: a store for a parameter server, a loop over closures for a worker."""

import dataclasses
import pickle
import traceback
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import jax
import ray
from ray.exceptions import RayActorError, RayTaskError

from spmd.servers.remote.errors import MadeVariablesError, ServerLostError
from spmd.servers.remote.nodes import print_to_task
from spmd.servers.remote.shared_objects import Package, Receiver, dumps
from spmd.servers.remote.worker_variables import WorkerVariables
from spmd.servers.store import Array, Change, Key, Rule, Store, UnknownVariableError
from spmd.state import adapters, merging_writes
from spmd.topology import leave_out_absent_accelerators, local_devices, make_mesh

_T = TypeVar("_T")


class StoreActor(Store):
    """A `Store` whose rules arrive pickled, and which owns the memory of its values."""

    def create(self, values: Mapping[Key, Array]) -> None:
        """See `Store.create`; what Ray hands over is a view of shared memory."""
        super().create({key: value.copy() for key, value in values.items()})

    def take_rules(self, rules: bytes) -> None:
        """See `Store.add_rules`."""
        self.add_rules(pickle.loads(rules))  # noqa: S301 -- over Ray's authenticated channel

    def ping(self) -> None:
        """Tells that the server is there."""


class RemoteStore:
    """A `Store` in another process."""

    def __init__(self, actor: Any, name: str) -> None:
        """Makes what stands for a store.

        Args:
            actor: handle of a `StoreActor`.
            name: of the task.
        """
        self._actor, self._name = actor, name

    def create(self, values: Mapping[Key, Array]) -> None:
        """See `Store.create`."""
        self._get(self._actor.create.remote(values))

    def add_rules(self, rules: Sequence[Rule]) -> None:
        """See `Store.add_rules`."""
        self._get(self._actor.take_rules.remote(dumps(list(rules))))

    def pull(self, versions: Mapping[Key, int]) -> dict[Key, tuple[int, Array]]:
        """See `Store.pull`."""
        return self._get(self._actor.pull.remote(versions))

    def rows(self, wanted: Mapping[Key, Array]) -> dict[Key, Array]:
        """See `Store.rows`."""
        return self._get(self._actor.rows.remote(wanted))

    def push(self, changes: Sequence[Change]) -> None:
        """See `Store.push`."""
        self._get(self._actor.push.remote(changes))

    def exchange(
        self, changes: Sequence[Change], versions: Mapping[Key, int]
    ) -> dict[Key, tuple[int, Array]]:
        """See `Store.exchange`."""
        return self._get(self._actor.exchange.remote(changes, versions))

    def _get(self, reference: "ray.ObjectRef[_T]") -> _T:
        try:
            return ray.get(reference)
        except RayActorError as error:
            raise ServerLostError(
                f"The parameter server {self._name} is gone, and with it the values that it held: {error}. Restore the "
                "last checkpoint, in this program if the server is back, or in a new one."
            ) from None
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
    """

    results: list[bytes]
    error: tuple[bytes, str] | None = None
    made_variables: bool = False


class WorkerActor:
    """Calls closures, one after the other."""

    def set_up(self, index: int, stores: Sequence[tuple[Any, str]]) -> None:
        """Prepares a worker, which then has nothing yet.

        Args:
            index: of the worker.
            stores: handles and names of the parameter servers.
        """
        print_to_task()
        self._index = index
        self._backing = WorkerVariables([RemoteStore(actor, name) for actor, name in stores])
        leave_out_absent_accelerators()
        mesh = make_mesh(local_devices()[:1])
        self._receiver = Receiver(mesh, self._backing)
        for adapter in adapters():
            adapter.on_thread()()

    def run(self, package: Package) -> Reply:
        """Calls the closures of a package, up to the first error."""
        reply = Reply([])
        try:
            self._backing.begin()
            for position, closure in enumerate(self._receiver.unpack(package)):
                self._backing.is_last = position + 1 == len(package.closures)
                with merging_writes():
                    result = jax.block_until_ready(closure(self._index))
                if self._backing.refused:
                    raise MadeVariablesError
                reply.results.append(dumps(result))
        except BaseException as error:
            reply.made_variables = self._backing.refused
            reply.error = _dump_error(error), traceback.format_exc()
        return reply

    def ping(self) -> None:
        """Tells that the worker is there."""


def _dump_error(error: BaseException) -> bytes:
    try:
        dumped = dumps(error)
        pickle.loads(dumped)  # noqa: S301 -- our own
    except Exception:
        return dumps(RuntimeError(f"{type(error).__name__}: {error}"))
    return dumped
