"""`tf.distribute.MultiWorkerMirroredStrategy`."""

import jax
from jax.extend.backend import clear_backends

import spmd
from frontends.tf.distribute.cluster_resolver import ClusterResolver, TFConfigClusterResolver
from frontends.tf.distribute.cluster_resolver.base import cluster_of
from frontends.tf.distribute.options import CollectiveHints, CommunicationOptions
from frontends.tf.distribute.strategies.default import default_strategy
from frontends.tf.distribute.strategy import Strategy
from spmd.cluster import Cluster, initialize, shared_seed
from spmd.errors import ClusterConfigError


class MultiWorkerMirroredStrategy(Strategy):
    """Trains on all devices of all workers of a cluster; every device holds a copy of every variable.

    Each worker runs the same script. What it starts with comes from the first one: the chief, or worker
    0. A cluster of one worker, or none, is this process alone.

    Examples:
        >>> strategy = MultiWorkerMirroredStrategy()  # no TF_CONFIG here
        >>> len(strategy.extended.worker_devices) == strategy.num_replicas_in_sync
        True

    Source: `tf.distribute.MultiWorkerMirroredStrategy`.
    """

    has_components = True

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
            _join(cluster, options.timeout_seconds)
        super().__init__(spmd.make_mesh(), collectives=options.collectives)


def _join(cluster: Cluster, timeout_seconds: float | None) -> None:
    if cluster.process_id is None:
        raise ClusterConfigError(
            f"This process is {cluster.task}, which takes no part in synchronous training: expected a "
            f"worker or the chief, in {cluster.source}. Take the task out of the cluster: this strategy needs no "
            "parameter servers."
        )
    # Scripts may look at their devices first: a backend that holds no array can be started again.
    alone = len(cluster.processes) == 1
    if not (alone or jax.distributed.is_initialized() or jax.live_arrays()):
        clear_backends()
        default_strategy.cache_clear()
    initialize(
        [str(task.address) for task in cluster.processes],
        cluster.process_id,
        names=list(map(str, cluster.processes)),
        timeout_seconds=timeout_seconds,
    )
    shared_seed()  # now, while all are here
