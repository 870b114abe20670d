"""Strategies of a program whose estimator trains in a cluster that it is no task of: `DistributeConfig(remote_cluster=...)`."""

from typing import Any

from frontends.tf.config import experimental_connect_to_cluster
from frontends.tf.distribute.connection import connected_cluster
from frontends.tf.distribute.strategies.mirrored import MirroredStrategy
from frontends.tf.distribute.strategies.multi_worker_mirrored import MultiWorkerMirroredStrategy
from frontends.tf.distribute.strategies.parameter_server import ParameterServerStrategy
from frontends.tf.train.cluster_spec import ClusterSpec


def in_remote_cluster(strategy: Any, cluster: ClusterSpec) -> Any:
    """Returns a strategy of all devices of a cluster in place of one of this process; connects to it, and waits for its tasks.

    Args:
        strategy: that the program made, before its configuration named the cluster.
        cluster: whose tasks serve.

    Returns:
        The strategy; a `ParameterServerStrategy` as it is: it connects when it trains.

    Raises:
        ValueError: the strategy is none of replicas that train together, nor of parameter servers that the cluster has.
    """
    if isinstance(strategy, ParameterServerStrategy) and "ps" in cluster.jobs:
        return strategy
    if not isinstance(strategy, (MirroredStrategy, MultiWorkerMirroredStrategy)):
        raise ValueError(
            f"remote_cluster takes a strategy whose replicas train together, but train_distribute is {strategy!r}. Write "
            "tf.contrib.distribute.CollectiveAllReduceStrategy(); or tf.contrib.distribute.ParameterServerStrategy() for a cluster "
            'with the job "ps".'
        )
    if connected_cluster() != cluster:
        experimental_connect_to_cluster(cluster)
    return MultiWorkerMirroredStrategy()
