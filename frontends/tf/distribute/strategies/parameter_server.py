"""`tf.distribute.ParameterServerStrategy`."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import spmd
from frontends.tf.distribute.cluster_resolver import (
    ClusterResolver,
    SimpleClusterResolver,
    TFConfigClusterResolver,
)
from frontends.tf.distribute.connection import connected_cluster
from frontends.tf.distribute.scope import get_strategy, has_strategy
from frontends.tf.distribute.server import Server, connected, server_at
from frontends.tf.distribute.strategy import Strategy
from frontends.tf.train.cluster_spec import ClusterSpec
from spmd.servers import (
    Reduced,
    ServerVariables,
    Store,
    keep_on_workers,
    register_reducer,
    takes,
)
from spmd.state import register_backing
from spmd.typing import LibraryVariable

Partitioner = Callable[..., Sequence[int]]
# Jobs of tasks that do not coordinate.
_OTHER_TASKS = ("worker", "ps", "evaluator")


class ParameterServerStrategy(Strategy):
    """Trains asynchronously: variables live on parameter servers, and workers update them independently.

    Make models, optimizers and metrics in its scope, and run steps with a
    `tf.distribute.coordinator.ClusterCoordinator` or `model.fit`. What travels are updates, not values: a worker sends
    gradients, and the server applies the optimizer, so that no update of concurrent workers is lost.

    Without a cluster (no resolver, no TF_CONFIG) it is the local form that TensorFlow 1 had: variables live in host memory
    of this process, and all devices of the machine compute, as replicas whose gradients are summed, as under
    `MirroredStrategy`. `model.fit` then takes what it takes there.

    What differs here: a worker of a cluster computes on its first device. Servers in other processes are reached by Ray, which listens on the address
    of the chief, or of the first parameter server in a cluster without one.

    Attributes:
        num_workers: how many workers run steps.
        is_local: whether there is no cluster.
        max_staleness: how many functions may run while another one does; None for any number.
        is_copy: whether this is what a worker's process has of it.
        is_connected: whether this process is to coordinate; a task that serves, or evaluates, makes the strategy as all do that
            run the same script, and leaves it to an estimator.
        coordinator: the `ClusterCoordinator` of the strategy, once there is one.

    Examples:
        >>> from frontends import tf
        >>> strategy = ParameterServerStrategy()
        >>> coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
        >>> with strategy.scope():
        ...     counter = tf.Variable(0.0)
        >>> for _ in range(3):
        ...     _ = coordinator.schedule(lambda: counter.assign_add(1.0))
        >>> coordinator.join()
        >>> float(counter.numpy())
        3.0

    Source: `tf.distribute.ParameterServerStrategy`.
    """

    coordinator: Any = None
    _cluster: Any = None
    _server_variables: Any = None
    _later: ClusterSpec | None = None
    is_copy: bool = False
    is_local: bool = False
    is_connected: bool = True
    combines_values = False

    def __init__(
        self,
        cluster_resolver: ClusterResolver | None = None,
        variable_partitioner: Partitioner | None = None,
        max_staleness: int | None = None,
    ) -> None:
        """Connects to the servers of a cluster, unless TF_CONFIG says that this task is one of them, or evaluates.

        Args:
            cluster_resolver: says which tasks there are; None reads TF_CONFIG, or takes the cluster that the program has
                connected to. With TF_CONFIG it connects when a coordinator or a variable is made: an estimator may
                have nothing left to train.
            variable_partitioner: called with a variable's shape and dtype, says how many parts to divide it into along
                each axis; only the first axis may have more than one. None divides nothing.
            max_staleness: how many other functions may run, and update variables, between the start and the end of a
                scheduled one; with 0 they run one after the other. None, as in TensorFlow, for any number.

        Raises:
            TypeError: `variable_partitioner` is no function.
            ValueError: `max_staleness` is no whole number from 0.
            ValueError: the cluster has several chiefs, or no worker or parameter server.
            ModuleNotFoundError: the servers are in other processes, and Ray is not installed.
        """
        self._cluster_resolver = cluster_resolver or TFConfigClusterResolver()
        cluster = self._cluster_resolver.cluster_spec()
        is_in_environment = cluster_resolver is None and bool(cluster)
        if cluster_resolver is None and not cluster:
            cluster = connected_cluster() or cluster
        servers = _servers_of(cluster)
        if max_staleness is not None and (type(max_staleness) is not int or max_staleness < 0):
            raise ValueError(
                f"max_staleness must be a whole number from 0, or None for no bound, but is {max_staleness!r}. With "
                "max_staleness=2, two other functions may update variables while one runs."
            )
        if variable_partitioner is not None and not callable(variable_partitioner):
            raise TypeError(
                f"variable_partitioner must be a function of shape and dtype, but is {variable_partitioner!r}. Write "
                "tf.distribute.experimental.partitioners.FixedShardsPartitioner(num_shards=2)."
            )
        self.max_staleness, self._partitioner = max_staleness, variable_partitioner
        if servers is None:
            is_task = isinstance(self._cluster_resolver, TFConfigClusterResolver)
            self.is_connected = not (is_task and self._cluster_resolver.task_type in _OTHER_TASKS)
            if self.is_connected:
                self._later = cluster
        self.is_local = self.combines_values = not cluster
        self._set_up(
            servers,
            cluster.num_tasks("worker") if cluster else 1,
            cluster.num_tasks("ps") if cluster else 1,
        )
        if not is_in_environment:
            self._connect()

    @staticmethod
    def coordinating(
        cluster: ClusterSpec,
        own: tuple[str, int] | None,
        like: "ParameterServerStrategy | None" = None,
    ) -> "ParameterServerStrategy":
        """Makes the strategy of an estimator's coordinator.

        Args:
            cluster: all tasks.
            own: the job and the index of the task that this process is, which then is a worker, too; None if it is none.
            like: another strategy, whose options are taken, and whose connection, if it has one.

        Returns:
            The strategy. Functions of the worker that is this process run on a thread of it.
        """
        self = object.__new__(ParameterServerStrategy)
        self.max_staleness = None if like is None else like.max_staleness
        self._partitioner = None if like is None else like._partitioner
        self._cluster_resolver = SimpleClusterResolver(cluster)
        servers = _servers_of(cluster, own)
        if servers is None:
            known = None if like is None else like._cluster
            if known is None or known.has_ended:
                known = connected(cluster, own)
            self._cluster, servers = known, known.stores
        workers = cluster.num_tasks("worker") if "worker" in cluster.jobs else 0
        self._set_up(servers, workers + (own is not None and own[0] != "worker"), len(servers))
        return self

    def _set_up(self, servers: Sequence[Any] | None, num_workers: int, num_servers: int) -> None:
        self.num_workers, self._num_servers = num_workers, num_servers
        devices = spmd.topology.local_devices()
        Strategy.__init__(self, spmd.make_mesh(devices if self.is_local else devices[:1]))
        self._keep_variables_on(servers or [])

    def _keep_variables_on(self, servers: Sequence[Any]) -> None:
        shards = None if self._partitioner is None else self._shards
        self._server_variables = ServerVariables(servers, shards)

    @property
    def cluster(self) -> Any:
        """The servers and workers in other processes; None if they are in this one. Connects to them."""
        self._connect()
        return self._cluster

    @property
    def server_variables(self) -> ServerVariables:
        """The engine's backing of the variables. Connects to the servers."""
        self._connect()
        return self._server_variables

    def _connect(self) -> None:
        if self._later is not None:
            self._cluster = connected(self._later)
            self._later = None
            self._keep_variables_on(self._cluster.stores)

    def _shards(self, shape: Sequence[int], dtype: Any) -> int:
        assert self._partitioner is not None
        parts = list(self._partitioner(shape=tuple(shape), dtype=np.dtype(dtype)))
        if len(parts) != len(shape) or math.prod(parts[1:]) != 1 or parts[0] < 1:
            raise ValueError(
                f"variable_partitioner returned {parts} for the shape {tuple(shape)}, but a variable is divided along "
                f"its first axis only: expected [n{', 1' * (len(shape) - 1)}]. Return the number of parts there, and 1 for "
                "the other axes."
            )
        return min(parts[0], shape[0]) or 1

    def __repr__(self) -> str:
        if self.is_local:
            return f"{type(self).__name__}({self.num_replicas_in_sync} local devices)"
        return f"{type(self).__name__}({self.num_workers} workers, {self._num_servers} parameter servers)"


def _servers_of(cluster: ClusterSpec, own: tuple[str, int] | None = None) -> list[Store] | None:
    """Finds the parameter servers in this process; without a cluster, makes one. None if they are in others.

    Args:
        cluster: all tasks.
        own: the job and the index of a task that this process is, if it is to be a worker, too.
    """
    if not cluster:
        return [Store()]
    if "chief" in cluster.jobs and cluster.num_tasks("chief") > 1:
        raise ValueError(
            f"The cluster must have at most one chief, the coordinator, but has {cluster.num_tasks('chief')}: "
            f"{cluster!r}."
        )
    found: dict[str, list[Server | None]] = {}
    for job in ("worker", "ps"):
        addresses = cluster.job_tasks(job) if job in cluster.jobs else []
        if own is not None and job == "worker":
            addresses = [one for index, one in enumerate(addresses) if own != (job, index)]
        elif not addresses:
            raise ValueError(
                f"ParameterServerStrategy needs at least one task of the job {job!r}, but the cluster is {cluster!r}. Add "
                f'"{job}": ["host:port"] to it.'
            )
        found[job] = [None if address is None else server_at(address) for address in addresses]
    stores = [server.store for server in found["ps"] if server is not None]
    return None if len(stores) < len(found["ps"]) or None in found["worker"] else stores


def _reduce(strategy: ParameterServerStrategy) -> Reduced:
    return _in_worker, (strategy.num_workers, strategy._num_servers)


def _in_worker(num_workers: int, num_servers: int) -> ParameterServerStrategy:
    """Makes what a worker's process has of a strategy."""
    from spmd.servers.remote import receiving

    receiver = receiving()
    assert receiver is not None
    strategy = object.__new__(ParameterServerStrategy)
    Strategy.__init__(strategy, receiver.mesh)
    strategy.num_workers, strategy._num_servers = num_workers, num_servers
    strategy.is_copy = True
    strategy._cluster_resolver = strategy._partitioner = None
    strategy._server_variables = receiver.variables
    return strategy


def _bind() -> Callable[[LibraryVariable], None] | None:
    """Returns what makes new variables live on servers, in the scope of a strategy that has some."""
    strategy = get_strategy() if has_strategy() else None
    if not isinstance(strategy, ParameterServerStrategy) or not strategy.is_connected:
        return None
    return lambda variable: _bind_to(strategy.server_variables, variable)


def _bind_to(variables: ServerVariables, variable: LibraryVariable) -> None:
    if takes(variable):
        variables.bind(variable)


register_backing(_bind)
register_reducer(ParameterServerStrategy, _reduce)
keep_on_workers(ParameterServerStrategy)
