"""A cluster of tasks as its coordinator sees it: who is there, and what runs in them."""

import contextlib
import gc
import time
import weakref
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import ray
from ray.exceptions import RayActorError

from spmd.servers.coordinator import Worker
from spmd.servers.remote.actors import RemoteStore, StoreActor, WorkerActor
from spmd.servers.remote.calls import call
from spmd.servers.remote.errors import ClusterError, ServerLostError
from spmd.servers.remote.health import GROUPS, Health
from spmd.servers.remote.joining import head_of, is_joined, join, leave, resources_of
from spmd.servers.remote.nodes import shown
from spmd.servers.remote.shared_objects import Sender
from spmd.servers.remote.worker import RemoteWorker

_REPORT_SECONDS = 30.0
_POLL_SECONDS = 1.0
_FINISH_SECONDS = 10.0


class RemoteCluster:
    """The parameter servers and workers of a cluster.

    What runs in the tasks for it ends when it is no longer used, at `end`, or when a parameter server was lost.

    Attributes:
        stores: of the parameter servers.
    """

    def __init__(
        self,
        jobs: Mapping[str, Sequence[str]],
        source: str,
        *,
        is_chief: bool,
        own: Collection[str] = (),
    ) -> None:
        """Joins a cluster; blocks until its tasks are there.

        Args:
            jobs: addresses of the tasks, by job.
            source: where the addresses come from, for messages.
            is_chief: whether this process is the chief of the cluster.
            own: names of tasks that this process is itself, such as `"worker_0"`.

        Raises:
            ClusterError: the head cannot be started or reached.
            ServerLostError: the head was lost at once.
        """
        gc.collect()  # a former one may be part of a cycle
        join(jobs, source, is_chief=is_chief)
        tasks = [
            (job, index) for job in ("ps", "worker") for index in range(len(jobs.get(job, ())))
        ]
        names = [name for job, index in tasks if (name := f"{job}_{index}") not in own]
        found = _started(names, head_of(jobs))
        self._stores = [(actor, name) for name, actor in found.items() if _is_server(name)]
        self._workers = {
            int(name.rpartition("_")[2]): actor
            for name, actor in found.items()
            if not _is_server(name)
        }
        actors = list(found.values())
        self._health = Health(self._stores, lambda: _end(actors))
        weakref.finalize(self, self._health.stop).atexit = False
        self.stores = [
            RemoteStore(actor, name, "coordinator", self._health) for actor, name in self._stores
        ]

    @property
    def has_ended(self) -> bool:
        """Whether nothing runs in the tasks for it any more."""
        return self._health.has_stopped

    def workers(self, sender: Sender, here: Sequence[Worker]) -> list[Worker]:
        """Returns the workers, for a coordinator.

        Args:
            sender: packs closures for them.
            here: for each worker, what calls a closure in this process: in its place, or because the worker is no task.
        """
        workers = list(here)
        for index, actor in self._workers.items():
            workers[index] = RemoteWorker(
                actor, index, self._stores, self._health, sender, here[index]
            )
        return workers

    def finish(self) -> None:
        """Ends what runs in the tasks, and has those tasks end that serve until a program is done; leaves the cluster."""
        actors = [*self._workers.values(), *(actor for actor, _ in self._stores)]
        with contextlib.suppress(Exception):  # of a task that is gone
            call(
                ray.wait,
                [actor.finish.remote() for actor in actors],
                num_returns=len(actors),
                timeout=_FINISH_SECONDS,
            )
        self.end()
        leave()

    def end(self) -> None:
        """Ends what runs in the tasks for it."""
        self._health.stop()


def _started(names: Sequence[str], head: str) -> dict[str, Any]:
    """Starts an actor in each task; blocks until all of them run.

    Args:
        names: of the tasks.
        head: address of the cluster's head.

    Raises:
        ClusterError: a task cannot run an actor.
        ServerLostError: the head was lost.
    """
    actors = {name: _actor(name) for name in names}
    missing = {actor.beat.remote(): name for name, actor in actors.items()}
    reported = time.monotonic()
    while missing:
        ready, _ = ray.wait(list(missing), num_returns=len(missing), timeout=_POLL_SECONDS)
        for reference in ready:
            name = missing.pop(reference)
            try:
                ray.get(reference)
            except RayActorError as error:
                if error.actor_init_failed:
                    _end(list(actors.values()))
                    raise ClusterError(
                        f"The task {shown(name)} cannot run what this program sends. Have all tasks, and this program, "
                        f"use the same versions of Python, Ray, JAX and jaxtribute. It said: {error}"
                    ) from None
                # Its task has just died.
                time.sleep(_POLL_SECONDS)
                if _is_server(name):  # Ray starts a worker anew
                    actors[name] = _actor(name)
                missing[actors[name].beat.remote()] = name
        if missing and time.monotonic() > reported + _REPORT_SECONDS:
            print(f"Waiting for the tasks {', '.join(missing.values())} ...", flush=True)
            if not is_joined():
                _end(list(actors.values()))
                raise ServerLostError(
                    f"The head of the cluster at {head} was lost while its tasks were waited for.",
                    "Make the strategy anew once it runs again.",
                )
            reported = time.monotonic()
    return actors


def _actor(name: str) -> Any:
    cls: type[Any] = StoreActor if _is_server(name) else WorkerActor
    # A server that is started anew has no values.
    restarts = 0 if _is_server(name) else -1
    options = {"resources": resources_of(name), "num_cpus": 0, "max_restarts": restarts}
    remote: Any = ray.remote(concurrency_groups=GROUPS)  # pyright: ignore[reportCallIssue]
    return remote(cls).options(**options).remote()


def _is_server(name: str) -> bool:
    return name.startswith("ps_")


def _end(actors: Sequence[Any]) -> None:
    """Ends actors for good, where they can still be reached."""
    for actor in actors:
        with contextlib.suppress(Exception):
            call(ray.kill, actor)
