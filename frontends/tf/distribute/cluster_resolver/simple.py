"""The resolver with fixed answers."""

from frontends.tf.distribute.cluster_resolver.base import AddressResolver, url
from frontends.tf.train.cluster_spec import ClusterSpec


class SimpleClusterResolver(AddressResolver):
    """Returns the answers that it was constructed with.

    Raises:
        TypeError: `cluster_spec` is not a `tf.train.ClusterSpec`, or `master` not a string.

    Source: `tf.distribute.cluster_resolver.SimpleClusterResolver`.
    """

    def __init__(
        self,
        cluster_spec: ClusterSpec,
        master: str = "",
        task_type: str | None = None,
        task_id: int | None = None,
        environment: str | None = "",
        num_accelerators: dict[str, int] | None = None,
        rpc_layer: str | None = None,
    ) -> None:
        if not isinstance(cluster_spec, ClusterSpec):
            raise TypeError(
                f"cluster_spec must be a tf.train.ClusterSpec, but it is {type(cluster_spec).__name__}. "
                "Write SimpleClusterResolver(tf.train.ClusterSpec(cluster_spec), ...)."
            )
        if not isinstance(master, str):
            raise TypeError(
                f'master must be a string, but it is {master!r:.80}. Write master="" for this process.'
            )
        self._cluster_spec = cluster_spec
        self._master = master
        self._task_type = task_type
        self._task_id = task_id
        self._environment = environment
        self._accelerators = num_accelerators or {}
        self._rpc_layer = rpc_layer

    def cluster_spec(self) -> ClusterSpec:
        """Returns the tasks of the cluster."""
        return self._cluster_spec

    def master(
        self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None
    ) -> str:
        """Returns the master, or the address of a task; see `ClusterResolver.master`."""
        if task_type is not None and task_id is not None:
            return super().master(task_type, task_id, rpc_layer)
        return url(self._master, rpc_layer or self._rpc_layer)
