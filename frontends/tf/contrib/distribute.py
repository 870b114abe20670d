"""`tf.contrib.distribute`: strategies under the names that they first had, in TensorFlow 1.

A batch is the global batch, as in TensorFlow 2, where TensorFlow 1 gave one to each replica; an estimator's `input_fn` still does.
"""

from collections.abc import Sequence
from typing import Any

from frontends.tf import distribute
from frontends.tf.compat.v1 import logging
from frontends.tf.distribute.connection import client_strategy
from frontends.tf.distribute.cross_device_ops import (
    CrossDeviceOps,
    HierarchicalCopyAllReduce,
    NcclAllReduce,
)
from frontends.tf.distribute.distribute_config import DistributeConfig
from frontends.tf.distribute.server import Server
from frontends.tf.distribute.strategies.mirrored import MirroredStrategy as _MirroredStrategy
from frontends.tf.distribute.strategies.multi_worker_mirrored import MultiWorkerMirroredStrategy
from frontends.tf.distribute.strategies.parameter_server import (
    ParameterServerStrategy as _ParameterServerStrategy,
)
from frontends.tf.tpu.experimental import initialize_tpu_system
from frontends.tf.train.cluster_spec import ClusterSpec
from spmd.cluster import read_tf_config
from spmd.topology import local_devices

__all__ = [
    "AllReduceCrossDeviceOps",
    "CollectiveAllReduceStrategy",
    "DistributeConfig",
    "MirroredStrategy",
    "ParameterServerStrategy",
    "initialize_tpu_system",
    "run_standard_tensorflow_server",
]


class CollectiveAllReduceStrategy(MultiWorkerMirroredStrategy):
    """`tf.distribute.MultiWorkerMirroredStrategy` as it was first called.

    Source: `tf.contrib.distribute.CollectiveAllReduceStrategy`.
    """

    def __new__(cls, *args: object, **kwargs: object) -> Any:
        """Returns a strategy whose replicas are elsewhere, if the program has connected to a cluster."""
        elsewhere = client_strategy()
        return object.__new__(cls) if elsewhere is None else elsewhere()

    def __init__(self, num_gpus_per_worker: int = 0) -> None:
        """Joins the cluster that TF_CONFIG names, if it names one; see `tf.distribute.MultiWorkerMirroredStrategy`.

        Args:
            num_gpus_per_worker: how many devices of each worker to use, of whatever kind; 0, or more than there are, takes all.
        """
        self.devices_per_worker = num_gpus_per_worker or None
        super().__init__()


class MirroredStrategy(_MirroredStrategy):
    """`tf.distribute.MirroredStrategy` with the parameters that it first had.

    As a task of a cluster of several workers, it is `CollectiveAllReduceStrategy`: it trains on the devices of all.

    Source: `tf.contrib.distribute.MirroredStrategy`.
    """

    def __new__(
        cls,
        devices: Sequence[str] | None = None,
        num_gpus: int | None = None,
        num_gpus_per_worker: int | None = None,
        *args: object,
        **kwargs: object,
    ) -> Any:
        """Returns a strategy of all workers, if TF_CONFIG names several."""
        jobs = read_tf_config().jobs
        if devices is None and sum(len(jobs.get(job, ())) for job in ("chief", "worker")) > 1:
            return CollectiveAllReduceStrategy(num_gpus_per_worker or num_gpus or 0)
        return object.__new__(cls)

    def __init__(
        self,
        devices: Sequence[str] | None = None,
        num_gpus: int | None = None,
        num_gpus_per_worker: int | None = None,
        cross_device_ops: CrossDeviceOps | None = None,
        auto_shard_dataset: bool = False,
        cross_tower_ops: CrossDeviceOps | None = None,
    ) -> None:
        """Makes the strategy; starts the backend.

        Args:
            devices: see `tf.distribute.MirroredStrategy`.
            num_gpus: how many devices to use, of whatever kind; more than there are takes all, with a warning.
            num_gpus_per_worker: the same.
            cross_device_ops: see `tf.distribute.MirroredStrategy`.
            auto_shard_dataset: accepted, and not used: there is one worker.
            cross_tower_ops: `cross_device_ops` as it was first called.

        Raises:
            ValueError: both devices and their number are given.
        """
        count = num_gpus or num_gpus_per_worker
        if devices is not None and count:
            raise ValueError(
                f"Must only specify one of `devices` and `num_gpus`, but got {devices!r} and {count}."
            )
        if count:
            found = local_devices()
            if len(found) < count:
                logging.warning(
                    f"MirroredStrategy was asked for {count} devices, and takes the {len(found)} that there are."
                )
            taken: Any = found[:count]
        else:
            taken = devices
        super().__init__(taken, cross_device_ops or cross_tower_ops)


class ParameterServerStrategy(_ParameterServerStrategy):
    """Trains asynchronously on parameter servers; on one machine, on all of its devices, with variables on the host.

    Source: `tf.contrib.distribute.ParameterServerStrategy`.
    """

    def __init__(self, num_gpus_per_worker: int = 0) -> None:
        """Makes the strategy, which connects to the servers that TF_CONFIG names, if it names any, when it trains.

        Args:
            num_gpus_per_worker: without effect: devices that JAX sees are used.
        """
        super().__init__()


def AllReduceCrossDeviceOps(
    all_reduce_alg: str = "nccl",
    num_packs: int = 1,
    agg_small_grads_max_bytes: int = 0,
    agg_small_grads_max_group: int = 10,
) -> CrossDeviceOps:
    """Makes `tf.distribute.NcclAllReduce` or `HierarchicalCopyAllReduce`, which one class was at first.

    Args:
        all_reduce_alg: `"nccl"` or `"hierarchical_copy"`.
        num_packs: see these classes.
        agg_small_grads_max_bytes: accepted, and not used: XLA's combiner decides.
        agg_small_grads_max_group: likewise.

    Raises:
        ValueError: there is no such algorithm.

    Source: `tf.contrib.distribute.AllReduceCrossDeviceOps`.
    """
    if all_reduce_alg == "nccl":
        return NcclAllReduce(num_packs)
    if all_reduce_alg == "hierarchical_copy":
        return HierarchicalCopyAllReduce(num_packs)
    raise ValueError(
        f"all_reduce_alg must be 'nccl' or 'hierarchical_copy', got {all_reduce_alg!r}. "
        "Leave cross_device_ops out: XLA chooses the algorithm."
    )


def run_standard_tensorflow_server(session_config: object = None) -> Server:
    """Makes the server of the task that TF_CONFIG names, for a program elsewhere; `join` on it serves.

    Args:
        session_config: accepted, and not used: there are no sessions.

    Raises:
        ValueError: TF_CONFIG names no cluster, or no task.

    Source: `tf.contrib.distribute.run_standard_tensorflow_server`.
    """
    config = read_tf_config()
    if not config.jobs:
        raise ValueError(
            "run_standard_tensorflow_server serves as the task that TF_CONFIG names, but it names no cluster. Set it: "
            """TF_CONFIG='{"cluster": {"worker": ["host1:port"]}, "task": {"type": "worker", "index": 0}}'."""
        )
    if config.task_type is None:
        raise ValueError(
            "run_standard_tensorflow_server serves as the task that TF_CONFIG names, but it names none. Add it: "
            '"task": {"type": "worker", "index": 0}.'
        )
    return Server(ClusterSpec(config.jobs), config.task_type, config.task_index)


def __getattr__(name: str) -> Any:
    return getattr(distribute, name)


def __dir__() -> list[str]:
    return sorted({*dir(distribute), *__all__})
