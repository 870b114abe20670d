"""`tf.distribute.MultiWorkerMirroredStrategy`."""

from typing import Any

import spmd
from frontends.tf.distribute.cluster_resolver import ClusterResolver, TFConfigClusterResolver
from frontends.tf.distribute.cluster_resolver.base import cluster_of
from frontends.tf.distribute.connection import client_strategy
from frontends.tf.distribute.joining import join, warn_if_alone_in_slurm
from frontends.tf.distribute.options import (
    CollectiveHints,
    CommunicationImplementation,
    CommunicationOptions,
)
from frontends.tf.distribute.strategy import Strategy
from spmd.topology import all_devices


class MultiWorkerMirroredStrategy(Strategy):
    """Trains on all devices of all workers of a cluster; every device holds a copy of every variable.

    Each worker runs the same script. What it starts with comes from the first one: the chief, or worker
    0. A cluster of one worker, or none, is this process alone, with a warning where Slurm has started several. A program that is no task of the cluster, and has connected to
    it by `tf.config.experimental_connect_to_cluster`, has its workers run the steps: see docs/standalone.md.

    Attributes:
        devices_per_worker: how many devices of each worker take part; None for all.

    Examples:
        >>> strategy = MultiWorkerMirroredStrategy()  # no TF_CONFIG here
        >>> len(strategy.extended.worker_devices) == strategy.num_replicas_in_sync
        True

    Source: `tf.distribute.MultiWorkerMirroredStrategy`.
    """

    has_components = True
    devices_per_worker: int | None = None

    def __new__(cls, *args: object, **kwargs: object) -> "MultiWorkerMirroredStrategy":
        """Returns a strategy whose replicas are elsewhere, if the program has connected to a cluster."""
        elsewhere = client_strategy() if cls is MultiWorkerMirroredStrategy else None
        return object.__new__(elsewhere or cls)

    def __init__(
        self,
        cluster_resolver: ClusterResolver | None = None,
        communication_options: CollectiveHints | None = None,
    ) -> None:
        """Joins the cluster, and makes the strategy; waits until all workers have come.

        Make it before anything that makes an array: a process cannot join a cluster afterwards.

        Args:
            cluster_resolver: says which tasks there are and which this is; None reads TF_CONFIG.
            communication_options: how collectives travel: `bytes_per_pack` joins gradients into buckets,
                `compression` sends them with fewer bits, and `timeout_seconds` bounds the wait for workers at the
                start. XLA takes NCCL on GPUs, gloo on processors.

        Raises:
            spmd.errors.ClusterConfigError: what the resolver says makes no cluster, or this task does not
                train.
            spmd.errors.ClusterStartError: workers did not come in time; the message names them.
            RuntimeError: arrays were made before.
        """
        options = communication_options or CommunicationOptions()
        if not isinstance(options, CollectiveHints):
            raise TypeError(
                f"communication_options must be a tf.distribute.experimental.CommunicationOptions, but is "
                f"{options!r}."
            )
        self._cluster_resolver = cluster_resolver or TFConfigClusterResolver()
        cluster = cluster_of(self._cluster_resolver)
        if cluster is not None and not cluster.is_evaluator:
            join(cluster, options.timeout_seconds)
        if cluster is None and cluster_resolver is None:
            warn_if_alone_in_slurm()
        devices = None if self.devices_per_worker is None else _first(self.devices_per_worker)
        super().__init__(spmd.make_mesh(devices), collectives=options.collectives)


class ExperimentalMultiWorkerMirroredStrategy(MultiWorkerMirroredStrategy):
    """`tf.distribute.MultiWorkerMirroredStrategy` as it was first called, with the library of collectives as its first argument.

    In a program that has connected to a cluster it makes the strategy whose replicas are there.

    Examples:
        >>> strategy = ExperimentalMultiWorkerMirroredStrategy(CommunicationImplementation.NCCL)
        >>> isinstance(strategy, MultiWorkerMirroredStrategy)
        True

    Source: `tf.distribute.experimental.MultiWorkerMirroredStrategy`.
    """

    def __new__(
        cls,
        communication: CommunicationImplementation = CommunicationImplementation.AUTO,
        cluster_resolver: ClusterResolver | None = None,
    ) -> MultiWorkerMirroredStrategy:
        """Returns a strategy whose replicas are elsewhere, if the program has connected to a cluster."""
        if cls is ExperimentalMultiWorkerMirroredStrategy and client_strategy() is not None:
            return MultiWorkerMirroredStrategy(cluster_resolver)
        return object.__new__(cls)

    def __init__(
        self,
        communication: CommunicationImplementation = CommunicationImplementation.AUTO,
        cluster_resolver: ClusterResolver | None = None,
    ) -> None:
        """Joins the cluster, and makes the strategy; see `tf.distribute.MultiWorkerMirroredStrategy`.

        Args:
            communication: has no effect: XLA takes NCCL on GPUs, gloo on processors.
            cluster_resolver: as there.

        Raises:
            TypeError: `communication` is no `CommunicationImplementation`.
            spmd.errors.ClusterConfigError: as there.
            spmd.errors.ClusterStartError: as there.
            RuntimeError: as there.
        """
        if not isinstance(communication, CommunicationImplementation):
            raise TypeError(
                "communication must be a tf.distribute.experimental.CommunicationImplementation, such as "
                f"CommunicationImplementation.AUTO, but is {communication!r}. A cluster resolver is the second argument "
                "here, cluster_resolver=."
            )
        super().__init__(cluster_resolver)


def _first(count: int) -> list[Any]:
    """Lists the first devices of each process."""
    by_process: dict[int, list[Any]] = {}
    for device in all_devices():
        by_process.setdefault(device.process_index, []).append(device)
    return [device for devices in by_process.values() for device in devices[:count]]
