"""Connecting to a cluster: as one of its tasks, which each run the script, or as a client that they work for."""

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
    """Connects to a cluster: joins it as one of its tasks or hosts, or has it work for this program.

    A program that is no task of the cluster becomes its client: the strategies that it makes from now on run in the
    cluster, whose tasks serve (`jaxtribute server`). See docs/standalone.md.

    What differs here: a task of the cluster, and each host of a TPU, runs the script itself, and they meet in this call,
    before anything that makes an array. A TPU of one host has nothing to join. Operations outside of strategies and
    of `tf.function`s run here.

    Args:
        cluster_spec_or_resolver: of the cluster.
        job_name: job of this process; a client's is none of the cluster's. Of a resolver that knows its task, its own.
        task_index: its task.
        protocol: accepted; JAX and Ray have their own.
        make_master_device_default: accepted; strategies place what runs.
        cluster_device_filters: accepted; the tasks that train see each other.

    Raises:
        ValueError: this is neither, or the cluster has no worker.
        ModuleNotFoundError: this is a client, and Ray is not installed.
        spmd.errors.ClusterStartError: the others did not come in time.

    Source: `tf.config.experimental_connect_to_cluster`.
    """
    # Imported here, because resolvers import tf.train, which takes long.
    from frontends.tf.distribute.cluster_resolver.base import ClusterResolver, cluster_of
    from frontends.tf.distribute.cluster_resolver.tpu import TPUClusterResolver
    from frontends.tf.distribute.connection import connect, register_client_strategy
    from frontends.tf.distribute.joining import join, join_tpu_hosts
    from frontends.tf.train.cluster_spec import ClusterSpec

    given = cluster_spec_or_resolver
    if isinstance(given, TPUClusterResolver):
        if has_tpu():
            join_tpu_hosts()
        return
    if isinstance(given, ClusterResolver):
        spec = given.cluster_spec()
        is_client = bool(spec) and given.task_type is None
    elif isinstance(given, ClusterSpec):
        spec, is_client = given, bool(given) and job_name not in given.jobs
    else:
        raise ValueError(
            "`cluster_spec_or_resolver` must be a `ClusterSpec` or a `ClusterResolver`, but is "
            f"{type(given).__name__}."
        )
    if is_client:
        if "worker" not in spec.jobs:
            raise ValueError(
                f"This process is {job_name!r} {task_index}, which is not in the cluster of {', '.join(sorted(spec.jobs))}, and "
                'a cluster that is to work for it needs workers. Add "worker": ["host:port"] to it.'
            )
        connect(spec)
        # Imported here: it needs Ray.
        from frontends.tf.distribute.standalone.strategy import StandaloneStrategy

        register_client_strategy(StandaloneStrategy)
        return
    if isinstance(given, ClusterResolver):
        cluster = cluster_of(given)
    else:
        cluster = spmd.cluster.from_tasks(spec.as_dict(), job_name, task_index, "ClusterSpec")
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
