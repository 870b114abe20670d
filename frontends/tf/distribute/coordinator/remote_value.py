"""`tf.distribute.coordinator.RemoteValue`: a result that a worker will have."""

from typing import Any

import jax
import numpy as np

from spmd import servers
from spmd.replica import PerReplica, is_per_replica
from spmd.state import adapter_of


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

    def __reduce__(self) -> Any:
        # In a worker, a name that the step's code has.
        return _Elsewhere, ()


class _Elsewhere:
    """What a worker's process has of a `RemoteValue` that a function refers to."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise RuntimeError(
            f"RemoteValue.{name} was asked for in a function that a worker runs, and the result is not there. Pass it in "
            "the arguments, where the function gets the result itself: coordinator.schedule(fn, args=(remote_value,))."
        )


def _of_one_replica(leaf: Any) -> Any:
    """Returns what a worker's one replica computed as it is, as `strategy.run` does in TensorFlow."""
    if isinstance(leaf, PerReplica) and len(leaf.values) == 1:
        return leaf.values[0]
    return leaf


def _as_numpy(leaf: Any) -> Any:
    # A variable as another process would send it: its value.
    is_array = isinstance(leaf, jax.Array) or adapter_of(leaf) is not None
    return np.asarray(leaf)[()] if is_array else leaf
