"""Connecting to a cluster: in JAX, joining it, since each host runs the script itself."""

from collections.abc import Mapping
from typing import Any

import spmd.cluster
from spmd.topology import has_tpu


def experimental_connect_to_cluster(
    cluster_spec_or_resolver: Any,
    job_name: str = "localhost",
    task_index: int = 0,
    protocol: str | None = None,
    make_master_device_default: bool = True,
    cluster_device_filters: object = None,
) -> None:
    """Joins a cluster: the hosts of a TPU, or the tasks of another resolver or of a `ClusterSpec`.

    What differs here: TensorFlow connects one process to servers that wait for its operations. With JAX each task runs the
    script, and they meet in this call, before anything that makes an array. A TPU of one host, and a cluster of one task,
    have nothing to join.

    Args:
        cluster_spec_or_resolver: of the cluster.
        job_name: job of this process, if a `ClusterSpec` is given.
        task_index: its task.
        protocol: accepted; JAX has its own.
        make_master_device_default: accepted; strategies place what runs.
        cluster_device_filters: accepted; the tasks that train see each other.

    Raises:
        ValueError: this is neither, or a cluster that this process is not in.
        spmd.errors.ClusterStartError: the others did not come in time.

    Source: `tf.config.experimental_connect_to_cluster`.
    """
    # Imported here, because resolvers import tf.train, which takes long.
    from frontends.tf.distribute.cluster_resolver.base import ClusterResolver, cluster_of
    from frontends.tf.distribute.cluster_resolver.tpu import TPUClusterResolver
    from frontends.tf.distribute.joining import join, join_tpu_hosts
    from frontends.tf.train.cluster_spec import ClusterSpec

    given = cluster_spec_or_resolver
    if isinstance(given, TPUClusterResolver):
        if has_tpu():
            join_tpu_hosts()
        return
    if isinstance(given, ClusterResolver):
        cluster = cluster_of(given)
    elif isinstance(given, ClusterSpec):
        cluster = _cluster_of_tasks(given.as_dict(), job_name, task_index)
    else:
        raise ValueError(
            "`cluster_spec_or_resolver` must be a `ClusterSpec` or a `ClusterResolver`, but is "
            f"{type(given).__name__}."
        )
    if cluster is not None and not cluster.is_evaluator:
        join(cluster)


def experimental_connect_to_host(
    remote_host: str | list[str] | None = None, job_name: str = "worker"
) -> None:
    """Joins the hosts of the TPU that this machine has, whatever the address; see `experimental_connect_to_cluster`.

    Args:
        remote_host: the address that TensorFlow would send operations to.
        job_name: accepted.

    Raises:
        ValueError: no host is given, or this machine has no TPU, as JAX does not run operations on other machines.

    Source: `tf.config.experimental_connect_to_host`.
    """
    here = has_tpu()
    # This machine's TPU has no address: its resolver's master() is "".
    if remote_host is None or not (remote_host or here):
        raise ValueError("Must provide at least one remote_host")
    if not here:
        raise ValueError(
            f"Cannot connect to {remote_host!r}: JAX runs operations on the machine that runs the script, and this one has no "
            "TPU. Start the script on the TPU's own machine, or simulate one: JAXTRIBUTE_SIMULATE=tpu:8."
        )
    from frontends.tf.distribute.joining import join_tpu_hosts

    join_tpu_hosts()


def _cluster_of_tasks(
    jobs: Mapping[str, Any], job_name: str, task_index: int
) -> spmd.cluster.Cluster | None:
    if job_name not in jobs and sum(map(len, jobs.values())) > 1:
        raise ValueError(
            f"This process is {job_name!r} {task_index}, which is not in the cluster of {', '.join(sorted(jobs))}: with JAX "
            "each task runs the script itself, and none waits for operations of another. Start the script as each task, "
            "and say which: experimental_connect_to_cluster(spec, job_name='worker', task_index=0)."
        )
    if job_name not in jobs:
        return None
    return spmd.cluster.from_tasks(jobs, job_name, task_index, "ClusterSpec")
