"""`tf.distribute.coordinator.RemoteValue`: a result that a worker will have."""

from typing import Any

import jax
import numpy as np

from spmd import servers
from spmd.replica import PerReplica, is_per_replica


class RemoteValue:
    """What a scheduled function will return.

    Attributes:
        engine_value: the engine's.

    Source: `tf.distribute.coordinator.RemoteValue`.
    """

    def __init__(self, value: servers.RemoteValue) -> None:
        """Wraps the engine's value; `ClusterCoordinator.schedule` makes it."""
        self.engine_value = value

    def fetch(self) -> Any:
        """Returns the result as NumPy arrays; blocks until it is there.

        Raises:
            CancelledError: the function was not run, because another one failed.
            Exception: what the function raised.

        Source: `tf.distribute.coordinator.RemoteValue.fetch`.
        """
        return jax.tree.map(_as_numpy, self.get(), is_leaf=is_per_replica)

    def get(self) -> Any:
        """Returns the result; blocks until it is there.

        Raises:
            CancelledError: the function was not run, because another one failed.
            Exception: what the function raised.

        Source: `tf.distribute.coordinator.RemoteValue.get`.
        """
        return jax.tree.map(_of_one_replica, self.engine_value.get(), is_leaf=is_per_replica)


def _of_one_replica(leaf: Any) -> Any:
    """Returns what a worker's one replica computed as it is, as `strategy.run` does in TensorFlow."""
    if isinstance(leaf, PerReplica) and len(leaf.values) == 1:
        return leaf.values[0]
    return leaf


def _as_numpy(leaf: Any) -> Any:
    return np.asarray(leaf)[()] if isinstance(leaf, jax.Array) else leaf
