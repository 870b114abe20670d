"""The resolver that reads TF_CONFIG."""

from typing import Any

from frontends.tf.distribute.cluster_resolver.base import ClusterResolver, url
from frontends.tf.train.cluster_spec import ClusterSpec
from spmd.cluster import read_tf_config


class TFConfigClusterResolver(ClusterResolver):
    """Reads the environment variable TF_CONFIG, each time that it is asked.

    Args:
        task_type: job of this process; None reads it.
        task_id: its index in the job; None reads it.
        rpc_layer: protocol to put in front of addresses; None reads it.
        environment: where this runs.

    Source: `tf.distribute.cluster_resolver.TFConfigClusterResolver`.
    """

    _source = "the environment variable TF_CONFIG"

    def __init__(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
        environment: str | None = None,
    ) -> None:
        self._task_type = task_type
        self._task_id = task_id
        self._rpc_layer = rpc_layer
        self._environment = environment

    def _answer(self, name: str) -> Any:
        value = super()._answer(name)
        return value if value is None else {"task_id": int}.get(name, str)(value)

    def _find(self, name: str) -> Any:
        return getattr(read_tf_config(), "task_index" if name == "task_id" else name)

    def cluster_spec(self) -> ClusterSpec:
        """Reads the tasks of the cluster.

        Raises:
            ClusterConfigError: TF_CONFIG is malformed.
        """
        return ClusterSpec(read_tf_config().jobs)

    def master(
        self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None
    ) -> str:
        """Finds the address of a task; `""` if it is the only one. See `ClusterResolver.master`."""
        config = read_tf_config()
        if config.session_master is not None:
            return config.session_master
        cluster = self.cluster_spec()
        if not cluster.jobs or [len(cluster.job_tasks(job)) for job in cluster.jobs] == [1]:
            return ""
        task_type = self.task_type if task_type is None else task_type
        task_id = self.task_id if task_id is None else task_id
        address: Any = cluster.task_address(task_type, task_id)  # pyright: ignore[reportArgumentType]
        return url(address, self.rpc_layer if rpc_layer is None else rpc_layer)
