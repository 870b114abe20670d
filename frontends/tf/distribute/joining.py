"""How a process joins the others: those of a cluster, and the hosts of a TPU."""

import os
import warnings

import jax
from jax.extend.backend import clear_backends

from frontends.tf.distribute.strategies.default import default_strategy
from spmd import _jax_internals
from spmd.cluster import (
    Cluster,
    from_slurm,
    from_tf_config,
    gce_tpu_hosts,
    initialize,
    jax_detection_method,
    shared_seed,
)
from spmd.errors import ClusterConfigError
from spmd.source_lines import user_stacklevel
from spmd.topology import has_tpu, wanted_simulation


def join(cluster: Cluster, timeout_seconds: float | None = None) -> None:
    """Joins a cluster; waits until all its processes have come, and each must call it.

    Args:
        cluster: with this process among those that train.
        timeout_seconds: how long to wait; None for the engine's default.

    Raises:
        spmd.errors.ClusterConfigError: this process does not train.
        spmd.errors.ClusterStartError: others did not come in time.
    """
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


def warn_if_alone_in_slurm() -> None:
    """Warns in a Slurm step of several tasks, whose processes were not told of each other: each would train alone."""
    try:
        cluster = from_slurm(os.environ)
    except ClusterConfigError:  # a script that does not ask for Slurm runs all the same
        return
    if cluster is not None:
        warnings.warn(
            f"This is task {cluster.process_id} of a Slurm step of {len(cluster.processes)}, but TF_CONFIG is not set: each task trains "
            "alone. For all of them to train together write tf.distribute.MultiWorkerMirroredStrategy("
            "cluster_resolver=tf.distribute.cluster_resolver.SlurmClusterResolver()), or start the script with what "
            "`jaxtribute launch --render slurm` prints.",
            stacklevel=user_stacklevel(),
        )


def join_tpu_hosts() -> None:
    """Joins the other hosts of the TPU, if there are several; each of them must call it, and waits for the others.

    JAX finds the hosts of a Cloud TPU by itself. Those of a simulated TPU are the tasks of TF_CONFIG, which
    `jaxtribute launch --workers 2 --simulate tpu:8` sets. A TPU of one host has nothing to join, nor has a process that has
    joined already.

    Raises:
        spmd.errors.ClusterStartError: others did not come in time.
    """
    if jax.distributed.is_initialized():
        return
    if wanted_simulation() is not None:
        cluster = from_tf_config(os.environ)
        if cluster is not None and not cluster.is_evaluator:
            join(cluster)
    elif has_tpu() and not _jax_internals.backend_is_running():
        kubernetes = jax_detection_method(os.environ) == "gketpu"
        if kubernetes or gce_tpu_hosts(os.environ) > 1:
            jax.distributed.initialize()
            shared_seed()
