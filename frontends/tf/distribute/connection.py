"""The cluster that this program has connected to, from outside of it."""

from typing import Any

from frontends.tf.distribute.server import jobs_of, remote_package, source_of
from frontends.tf.train.cluster_spec import ClusterSpec

_CONNECTED: list[ClusterSpec] = []
# The class of the strategy whose replicas are in that cluster.
_STRATEGY: list[type[Any]] = []


def connect(cluster: ClusterSpec) -> None:
    """Connects this program, which is no task of the cluster, to the servers of its tasks; waits for the head.

    Strategies that are made from now on run there.

    Args:
        cluster: its tasks, each of which serves: `jaxtribute server`, or `tf.distribute.Server(...).join()`.

    Raises:
        ModuleNotFoundError: Ray is not installed.
        TokenError: the head refuses the token.
    """
    remote_package().join(jobs_of(cluster), source_of_client(cluster), is_chief=False)
    _CONNECTED[:] = [cluster]


def source_of_client(cluster: ClusterSpec) -> str:
    """Says where the addresses of a cluster come from that this program connects to, for messages."""
    return source_of(
        cluster, "the cluster that tf.config.experimental_connect_to_cluster was given"
    )


def register_client_strategy(cls: type[Any]) -> None:
    """Registers the class of the strategy whose replicas are in a cluster that the program has connected to."""
    _STRATEGY[:] = [cls]


def client_strategy() -> type[Any] | None:
    """Returns the class of the strategy whose replicas are in the cluster; None if the program has not connected."""
    return _STRATEGY[0] if _CONNECTED and _STRATEGY else None


def connected_cluster() -> ClusterSpec | None:
    """Returns the cluster that this program has connected to; None if it has not."""
    return _CONNECTED[0] if _CONNECTED else None
