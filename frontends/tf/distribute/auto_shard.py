"""How a dataset is divided among the processes of a cluster: `tf.data.experimental.AutoShardPolicy`."""

import functools
import sys
from collections.abc import Iterator
from typing import Any

import jax
from jax.sharding import Mesh

import spmd
from frontends.tf._typing import Nested
from frontends.tf.data.dataset import Dataset
from frontends.tf.data.options import AutoShardPolicy
from frontends.tf.distribute.dataset import DistributedDataset
from spmd.input import AnySource
from spmd.input.pipeline import FileShard
from spmd.topology import spans_processes
from spmd.typing import Json

# Each process has batches of its own.
_DIVIDE = (AutoShardPolicy.FILE, AutoShardPolicy.OFF)


def policy_of(dataset: AnySource) -> AutoShardPolicy:
    """Returns the policy in the options of a `tf.data.Dataset`; `AUTO` if there is none, and for other sources."""
    options = getattr(dataset, "options", None)
    if not callable(options):
        return AutoShardPolicy.AUTO
    settings: Any = options()
    return settings.experimental_distribute.auto_shard_policy or AutoShardPolicy.AUTO


class OwnPart:
    """The batches that this process makes from a dataset for its own replicas.

    Each holds the process's part of a global batch. With `FILE` they come from files of its own; with `OFF`
    from the whole dataset, which the processes may shuffle or shard themselves.
    """

    def __init__(self, dataset: Dataset, policy: AutoShardPolicy) -> None:
        """Divides a dataset.

        Args:
            dataset: a `tf.data.Dataset` of global batches.
            policy: `FILE` or `OFF`.

        Raises:
            ValueError: the size of a batch is unknown, or not divisible by the number of processes.
        """
        self._policy = policy
        rows, processes = dataset.full_batch_rows, jax.process_count()
        if rows is None or rows % processes:
            found = "is not known" if rows is None else f"is {rows}"
            raise ValueError(
                f"AutoShardPolicy.{policy.name} divides every batch by the {processes} processes, but the "
                f"size of a batch {found}. Batch by a multiple of {processes}, .batch(global_batch_size), "
                "as the last step; or use AutoShardPolicy.DATA, which divides any."
            )
        self.full_batch_rows = rows // processes
        self._dataset = dataset.rebatch(self.full_batch_rows)

    def __iter__(self) -> Iterator[Nested]:
        return self._read(self._dataset)

    def position(self) -> Json:
        """Returns what the order of the next pass depends on; see `spmd.input.ResumableBatches`."""
        return self._dataset.position()

    def resumed_at(self, position: Json, batches: int) -> Iterator[Nested]:
        """Starts a pass at a later batch; see `spmd.input.ResumableBatches`."""
        return self._read(self._dataset.resumed_at(position, batches))

    def _read(self, dataset: Dataset) -> Iterator[Nested]:
        if self._policy is AutoShardPolicy.OFF:
            yield from dataset
            return
        shard = FileShard(jax.process_count(), jax.process_index())
        with shard.in_force():
            batches = iter(dataset)
        while True:
            with shard.in_force():
                batch = next(batches, None)
            if not shard.used:
                raise ValueError(
                    "AutoShardPolicy.FILE gives each process files of its own, but the dataset reads none: "
                    "expected tf.data.Dataset.list_files, tf.data.TFRecordDataset or "
                    "tf.data.TextLineDataset in it. Use AutoShardPolicy.DATA."
                )
            if batch is None:
                return
            yield batch


def divides_data(dataset: AnySource) -> bool:
    """Tells whether a dataset's policy gives each process batches of its own."""
    return policy_of(dataset) in _DIVIDE


def distributed(dataset: AnySource, mesh: Mesh) -> DistributedDataset:
    """Splits the batches of a dataset over replicas, and divides it among processes by its policy.

    Args:
        dataset: a `tf.data.Dataset` of global batches, or another source.
        mesh: the replicas.

    Raises:
        ValueError: the policy gives each process its part of every batch, and batches do not divide.
    """
    source, own, finish, replicas = dataset, False, None, spmd.topology.num_replicas(mesh)
    if spans_processes(mesh):
        policy = policy_of(dataset)
        own = policy in _DIVIDE
        source = OwnPart(dataset, policy) if own else dataset
        _print_plan(policy, replicas)
    elif isinstance(dataset, Dataset) and _has_memory_of_its_own(mesh):
        source, maps = dataset._last_maps
        finish = maps.on(mesh)
    of_tensors = isinstance(dataset, Dataset)
    batches = spmd.distribute(
        source, mesh, per_process=own, map_on_devices=finish, scalars=of_tensors
    )
    return DistributedDataset(batches, dataset, replicas, per_replica=False)


def _has_memory_of_its_own(mesh: Mesh) -> bool:
    """Tells whether rows must travel to the devices, as to GPUs and TPUs."""
    return spmd.topology.platform_of(mesh) != "cpu"


@functools.cache
def _print_plan(policy: AutoShardPolicy, replicas: int) -> None:
    """Prints once, in the first process, which process reads what."""
    what = {
        AutoShardPolicy.FILE: "each reads files of its own",
        AutoShardPolicy.OFF: "each reads all of the data for itself, so that a pass repeats every row",
    }.get(policy, "each reads all of the data, and trains on its own rows of every batch")
    if jax.process_index() == 0:
        print(
            f"Input for {replicas} replicas in {jax.process_count()} processes: {what} "
            f"(AutoShardPolicy.{policy.name}).",
            file=sys.stderr,
        )
