"""A cluster of tasks as its coordinator sees it: who is there, and what runs in them."""

from collections.abc import Mapping, Sequence
from typing import Any

import ray

from spmd.servers.coordinator import Worker
from spmd.servers.remote.actors import RemoteStore, StoreActor, WorkerActor
from spmd.servers.remote.joining import join
from spmd.servers.remote.shared_objects import Sender
from spmd.servers.remote.worker import RemoteWorker

_REPORT_SECONDS = 30.0


class RemoteCluster:
    """The parameter servers and workers of a cluster.

    Attributes:
        stores: of the parameter servers.
    """

    def __init__(self, jobs: Mapping[str, Sequence[str]], *, is_chief: bool) -> None:
        """Joins a cluster; blocks until its tasks are there.

        Args:
            jobs: addresses of the tasks, by job.
            is_chief: whether this process is the chief of the cluster.

        Raises:
            ClusterError: the head cannot be started or reached.
        """
        join(jobs, is_chief=is_chief)
        names = [f"ps_{index}" for index in range(len(jobs["ps"]))]
        self._stores = [(_actor(StoreActor, name, 0), name) for name in names]
        names = [f"worker_{index}" for index in range(len(jobs["worker"]))]
        self._workers = [(_actor(WorkerActor, name, -1), name) for name in names]
        _wait_for([*self._stores, *self._workers])
        self.stores = [RemoteStore(actor, name) for actor, name in self._stores]

    def workers(self, sender: Sender, here: Sequence[Worker]) -> list[RemoteWorker]:
        """Returns the workers, for a coordinator.

        Args:
            sender: packs closures for them.
            here: for each worker, what calls a closure in this process in its place.
        """
        return [
            RemoteWorker(actor, index, self._stores, sender, one)
            for index, ((actor, _), one) in enumerate(zip(self._workers, here, strict=True))
        ]


def _actor(cls: type[Any], name: str, restarts: int) -> Any:
    options = {"resources": {name: 0.001}, "num_cpus": 0, "max_restarts": restarts}
    return ray.remote(cls).options(**options).remote()


def _wait_for(actors: Sequence[tuple[Any, str]]) -> None:
    """Blocks until all actors run."""
    missing = {actor.ping.remote(): name for actor, name in actors}
    while missing:
        ready, _ = ray.wait(list(missing), num_returns=len(missing), timeout=_REPORT_SECONDS)
        for reference in ready:
            ray.get(reference)
            del missing[reference]
        if missing:
            print(f"Waiting for the tasks {', '.join(missing.values())} ...", flush=True)
