"""What tests of strategies share: strategies of some devices, and per-replica values."""

from typing import Any

import jax
import numpy as np

from frontends import tf
from spmd.replica import is_per_replica


def replica_context() -> Any:  # never None where the tests ask for it
    return tf.distribute.get_replica_context()


def mirrored(count=2):
    return tf.distribute.MirroredStrategy([f"cpu:{index}" for index in range(count)])


def per_replica(strategy, values):
    """Makes a per-replica value out of one value for each replica."""
    return strategy.experimental_distribute_values_from_function(
        lambda context: np.asarray(values[context.replica_id_in_sync_group], np.float32)
    )


def rows(strategy, blocks):
    """Makes a batch with other rows for each replica."""
    arrays = [np.asarray(block, np.float32) for block in blocks]
    (batch,) = strategy.distribute_datasets_from_function(lambda context: arrays)
    return batch


def replica_id():
    return replica_context().replica_id_in_sync_group


def in_both_ways(program: Any) -> Any:
    """The program as it is, and compiled."""
    compiled: Any = tf.function(program)
    return program(), compiled()


def lists(tree):
    return jax.tree.map(
        lambda leaf: [np.asarray(value).tolist() for value in leaf.values],
        tree,
        is_leaf=is_per_replica,
    )


def plain(tree):
    return jax.tree.map(lambda leaf: np.asarray(leaf).tolist(), tree)
