"""The resolver that merges others."""

from typing import Any

from frontends.tf.distribute.cluster_resolver.base import ClusterResolver, url
from frontends.tf.train.cluster_spec import ClusterSpec


class UnionClusterResolver(ClusterResolver):
    """Merges the clusters of several resolvers; the first one answers all other questions.

    Args:
        *args: the resolvers.
        task_type: job of this process; None asks the first resolver.
        task_id: its index in the job; None asks the first resolver.
        rpc_layer: protocol to put in front of addresses; None asks the first resolver.

    Raises:
        TypeError: an argument is not a resolver.
        ValueError: there is none.

    Source: `tf.distribute.cluster_resolver.UnionResolver`. There an override of `task_id` with 0 is
    ignored.
    """

    def __init__(
        self,
        *args: ClusterResolver,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
    ) -> None:
        if not args:
            raise ValueError(
                "A union needs at least one ClusterResolver, but there are none. Write "
                "UnionResolver(tf.distribute.cluster_resolver.TFConfigClusterResolver(), ...)."
            )
        for one in args:
            if not isinstance(one, ClusterResolver):
                raise TypeError(
                    f"A union is made of ClusterResolver objects, but one is {type(one).__name__}: "
                    f"{one!r:.80}. Write SimpleClusterResolver(tf.train.ClusterSpec(...)) around a cluster."
                )
        self._resolvers = args
        self._task_type = task_type
        self._task_id = task_id
        self._rpc_layer = rpc_layer

    @property
    def environment(self) -> str | None:
        """Where the first resolver says that this runs."""
        return self._resolvers[0].environment

    def _find(self, name: str) -> Any:
        return getattr(self._resolvers[0], name)

    def cluster_spec(self) -> ClusterSpec:
        """Merges the tasks of all.

        Returns:
            For each job the lists one after the other; or a dict by index if any of them is one.

        Raises:
            KeyError: two dicts of a job have an index in common.
        """
        merged: dict[str, list[Any]] = {}
        for resolver in self._resolvers:
            for job, tasks in resolver.cluster_spec().as_dict().items():
                merged.setdefault(job, []).append(tasks)
        return ClusterSpec({job: _merge(job, parts) for job, parts in merged.items()})

    def master(
        self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None
    ) -> str:
        """Returns the first resolver's master, or the address of a task; see `ClusterResolver.master`."""
        if task_type is not None and task_id is not None:
            address = self.cluster_spec().task_address(task_type, task_id)
            # Not the first resolver's protocol: as TensorFlow.
            return url(address, rpc_layer or self._rpc_layer)
        return self._resolvers[0].master(rpc_layer=rpc_layer)

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: object = None
    ) -> dict[str, int]:
        """Asks the first resolver."""
        return self._resolvers[0].num_accelerators(task_type, task_id, config_proto)


def _merge(job: str, parts: list[Any]) -> Any:
    if all(isinstance(part, list) for part in parts):
        return [address for part in parts for address in part]
    merged: dict[int, str] = {}
    for part in parts:
        tasks = dict(enumerate(part)) if isinstance(part, list) else part
        both = merged.keys() & tasks.keys()
        if both:
            raise KeyError(
                f"Two resolvers of the union list {job} {min(both)}: {merged[min(both)]} and {tasks[min(both)]}. "
                "Give each task its own index, or give lists, which are put one after the other."
            )
        merged |= tasks
    return merged
