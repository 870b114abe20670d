"""The base class of resolvers, and the engine's `Cluster` made from one."""

import abc
from collections import Counter
from typing import Any

import jax

import spmd.cluster
from frontends.tf.train.cluster_spec import ClusterSpec
from spmd.topology import all_devices, kind_of, local_devices


class ClusterResolver(abc.ABC):
    """Finds out which tasks make a cluster, and which of them this process is.

    A class of your own defines `cluster_spec` and `master`, and sets `task_type` and `task_id`, or
    overrides them.

    Source: `tf.distribute.cluster_resolver.ClusterResolver`.
    """

    _environment: str | None = ""
    _task_type: Any = None
    _task_id: Any = None
    _rpc_layer: Any = None
    _accelerators: dict[str, int] | None = None  # of each task, where a resolver knows them
    _source = ""  # where its answers come from, for errors

    @abc.abstractmethod
    def cluster_spec(self) -> ClusterSpec:
        """Lists the tasks of the cluster as it is now."""

    @abc.abstractmethod
    def master(
        self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None
    ) -> str:
        """Finds the address that TensorFlow 1 would make its session with.

        Args:
            task_type: job of the task; None takes the resolver's own.
            task_id: index of the task; None takes the resolver's own.
            rpc_layer: protocol to put in front; None takes the resolver's own.

        Returns:
            The address, or `""` for this process.

        Raises:
            ValueError: there is no such task.
        """

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: object = None
    ) -> dict[str, int]:
        """Counts the accelerators of a task, by kind; starts JAX's backend.

        On a cluster, make the strategy first: a process cannot join one once its backend runs.

        Args:
            task_type: job of the task.
            task_id: index of the task; if both are None, this process.

        Returns:
            Such as `{"GPU": 8}`; empty without accelerators, and for a task whose devices this process
            does not see.
        """
        if self._accelerators is not None:
            return self._accelerators
        task = (task_type, task_id)
        if None in task or task == (self.task_type, self.task_id):
            devices = local_devices()
        else:
            jobs = self.cluster_spec().as_dict()
            names: list[tuple[str | None, int | None]] = [
                (job, i) for job in ("chief", "worker") for i in range(len(jobs.get(job, ())))
            ]
            # Without a cluster all devices belong to process 0, which may not be the task in question.
            joined = task in names and jax.process_count() > 1
            devices = [
                one for one in all_devices() if joined and one.process_index == names.index(task)
            ]
        kinds = map(kind_of, devices)
        return dict(Counter(kind.upper() for kind in kinds if kind != "cpu"))

    @property
    def environment(self) -> str | None:
        """Where this runs: `""`, as outside of Google in TensorFlow."""
        return self._environment

    @property
    def task_type(self) -> str | None:
        """Job of this process, such as `"worker"`; None if it is not known."""
        return self._answer("task_type")

    @task_type.setter
    def task_type(self, task_type: str | None) -> None:
        self._task_type = task_type

    @property
    def task_id(self) -> int | None:
        """Index of this process in its job; None if it is not known."""
        return self._answer("task_id")

    @task_id.setter
    def task_id(self, task_id: int | None) -> None:
        self._task_id = task_id

    @property
    def rpc_layer(self) -> str | None:
        """Protocol between TensorFlow's servers; JAX has its own, so it changes only addresses that are shown."""
        return self._answer("rpc_layer")

    @rpc_layer.setter
    def rpc_layer(self, rpc_layer: str | None) -> None:
        self._rpc_layer = rpc_layer

    def _answer(self, name: str) -> Any:
        """Returns what was set, else what the resolver finds out by itself."""
        given = getattr(self, f"_{name}")
        return self._find(name) if given is None else given

    def _find(self, name: str) -> Any:
        """Finds out `task_type`, `task_id` or `rpc_layer`; None if nothing tells."""
        return None


class AddressResolver(ClusterResolver):
    """A resolver whose `master` is the address of a task."""

    def master(
        self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None
    ) -> str:
        """Finds the address of a task; `""` while it is not known which. See `ClusterResolver.master`."""
        task_type = self.task_type if task_type is None else task_type
        task_id = self.task_id if task_id is None else task_id
        if task_type is None or task_id is None:
            return ""
        address = self.cluster_spec().task_address(task_type, task_id)
        return url(address, rpc_layer or self.rpc_layer)


def url(address: str, rpc_layer: str | None) -> str:
    """Puts a protocol in front of an address, if there is one."""
    return f"{rpc_layer}://{address}" if rpc_layer else address


def cluster_of(resolver: ClusterResolver) -> spmd.cluster.Cluster | None:
    """Makes the engine's cluster from a resolver, one of TensorFlow's or a class of your own.

    Returns:
        The cluster; None if it lists no task, which means one process.

    Raises:
        ClusterConfigError: its answers do not describe a cluster.
    """
    # First: some resolvers find their task only while making it.
    jobs = resolver.cluster_spec().as_dict()
    return spmd.cluster.from_tasks(
        jobs, resolver.task_type, resolver.task_id, resolver._source or type(resolver).__name__
    )
