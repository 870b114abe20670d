"""Methods of strategies that distribute datasets and values."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import jax

import spmd
from frontends.tf._typing import Source
from frontends.tf.distribute.auto_shard import distributed
from frontends.tf.distribute.dataset import DistributedDataset
from frontends.tf.distribute.input import (
    InputContext,
    InputOptions,
    InputReplicationMode,
    ValueContext,
)
from frontends.tf.distribute.scope import StrategyLike, WrongMeshError, require_cross_replica
from spmd.replica import current_frame, stack_replicas
from spmd.topology import layout_of, spans_processes


class StrategyInputs(StrategyLike):
    """Methods of strategies that distribute datasets and values over the replicas."""

    def experimental_distribute_dataset(
        self, dataset: Source, options: InputOptions | None = None
    ) -> DistributedDataset:
        """Splits the global batches of a dataset over the replicas, ahead of use.

        A batch of L rows goes to N replicas by `ceil(L / N)` rows each, first replicas first. In a cluster
        every process reads all of the data, and places the rows of its own replicas; the dataset's
        `tf.data.experimental.AutoShardPolicy` may give each process files of its own (`FILE`) or leave
        dividing the data to the script (`OFF`).

        GPUs and TPUs apply the last map functions of a `tf.data.Dataset` of rows in memory, if these make rows
        larger, so that pixels travel as bytes. Besides a batched `tf.data.Dataset` it takes any source that
        `spmd.distribute` takes.

        Raises:
            spmd.errors.BatchError: while iterating, if elements have no batch axis.
            NotImplementedError: the options ask for a pipeline per replica, as in TensorFlow.
            ValueError: while iterating, inside a replica.

        Examples:
            >>> from frontends import tf
            >>> strategy = tf.distribute.OneDeviceStrategy("cpu:0")
            >>> dataset = tf.data.Dataset.range(6).batch(4)
            >>> batches = strategy.experimental_distribute_dataset(dataset)
            >>> [int(strategy.reduce("SUM", batch, axis=0)) for batch in batches]
            [6, 9]

        Source: `tf.distribute.Strategy.experimental_distribute_dataset`.
        """
        if _pipeline_per_replica(options):
            raise NotImplementedError(
                "InputReplicationMode.PER_REPLICA makes a pipeline for each replica, so it needs a "
                "function that makes one: strategy.distribute_datasets_from_function(make, options)."
            )
        if isinstance(dataset, DistributedDataset):
            raise TypeError(
                "This dataset is distributed already. Distribute a tf.data.Dataset once, and iterate "
                "over the result."
            )
        return distributed(dataset, self.mesh)

    def distribute_datasets_from_function(
        self, dataset_fn: Callable[[InputContext], Any], options: InputOptions | None = None
    ) -> DistributedDataset:
        """Distributes a dataset that a function makes; its batches are per replica.

        Each replica takes the next batch. With `InputReplicationMode.PER_REPLICA` the function is called for
        each replica, whose batches all come from its own dataset. `CentralStorageStrategy` leaves out a last step
        for which not every replica has a batch.

        Raises:
            ValueError: while iterating, inside a replica.

        Examples:
            >>> from frontends import tf
            >>> strategy = tf.distribute.OneDeviceStrategy("cpu:0")
            >>> def make(context):
            ...     return tf.data.Dataset.range(6).batch(context.get_per_replica_batch_size(3))
            >>> for batch in strategy.distribute_datasets_from_function(make):
            ...     print(strategy.gather(batch, axis=0))
            [0 1 2]
            [3 4 5]

        Source: `tf.distribute.Strategy.distribute_datasets_from_function`.
        """
        replicas = self.num_replicas_in_sync
        each = layout_of(self.mesh).local_replicas if _pipeline_per_replica(options) else 1
        processes = jax.process_count() if spans_processes(self.mesh) else 1
        first = each * jax.process_index() if processes > 1 else 0
        contexts = [InputContext(each * processes, first + i, replicas) for i in range(each)]
        dataset, *others = map(dataset_fn, contexts)
        source = dataset
        if others:

            def source() -> Iterator[Any]:
                # Batch by batch, the replicas take turns.
                return itertools.chain.from_iterable(zip(dataset, *others, strict=False))

        drops = self.drops_last_step or _only_full_batches(dataset)
        batches = spmd.distribute(
            source, self.mesh, per_replica=True, drop_remainder=drops, scalars=True
        )
        return DistributedDataset(batches, dataset, replicas, per_replica=True)

    experimental_distribute_datasets_from_function = distribute_datasets_from_function

    def experimental_distribute_values_from_function(
        self, value_fn: Callable[[ValueContext], Any]
    ) -> Any:
        """Makes a per-replica value out of one value for each replica.

        Args:
            value_fn: takes a `ValueContext`, and returns one replica's value, a nested structure of
                arrays or numbers of the same shapes for all; the number of rows may differ.

        Raises:
            ValueError: the shapes differ between replicas, after the first axis.
            TypeError: devices cannot hold the values, such as strings.
            RuntimeError: called inside a replica.

        Source: `tf.distribute.Strategy.experimental_distribute_values_from_function`.
        """
        require_cross_replica("experimental_distribute_values_from_function")
        frame = current_frame()
        if frame is not None and frame.mesh != self.mesh:
            # In a tf.function this may be the only sign of the replicas that it is for.
            raise WrongMeshError(frame.mesh, self.mesh)
        replicas = self.num_replicas_in_sync
        values = [value_fn(ValueContext(index, replicas)) for index in range(replicas)]
        return jax.tree.map(lambda *leaves: stack_replicas(leaves, self.mesh), *values)


def _only_full_batches(dataset: Source) -> bool:
    """Tells whether a dataset was batched with `drop_remainder`: then its shapes are all known.

    TensorFlow runs such a dataset's last step only if all replicas got a batch.
    """
    specs = jax.tree.leaves(getattr(dataset, "element_spec", None))
    shapes = [getattr(spec, "shape", (None,)) for spec in specs]
    return bool(shapes) and all(not shape or shape[0] is not None for shape in shapes)


def _pipeline_per_replica(options: InputOptions | None) -> bool:
    mode = (options or InputOptions()).experimental_replication_mode
    return mode is InputReplicationMode.PER_REPLICA
