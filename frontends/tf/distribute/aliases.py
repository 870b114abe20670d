"""Aliases of strategies' methods: their names in TensorFlow 1 and 2.0, for scripts that still use them."""

import abc
import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
from jax.sharding import Mesh

from frontends.tf._typing import Nested, Source
from frontends.tf.data import Dataset
from frontends.tf.distribute.dataset import DistributedDataset, DistributedIterator
from frontends.tf.distribute.extended import StrategyExtended
from frontends.tf.distribute.input import InputContext, InputOptions, InputReplicationMode
from frontends.tf.distribute.options import RunOptions


class StrategyAliases(abc.ABC):
    """Methods of strategies under the names of TensorFlow 1 and 2.0, and what they need of a strategy."""

    extended: StrategyExtended

    @property
    @abc.abstractmethod
    def mesh(self) -> Mesh:
        """The engine's mesh: the devices along the axis `"replica"`."""

    @property
    @abc.abstractmethod
    def num_replicas_in_sync(self) -> int:
        """How many replicas train together."""

    @abc.abstractmethod
    def run(
        self,
        fn: Callable[..., Any],
        args: Sequence[Nested] = (),
        kwargs: Mapping[str, Nested] | None = None,
        options: RunOptions | None = None,
    ) -> Any:
        """Runs a function on every replica."""

    @abc.abstractmethod
    def experimental_local_results(self, value: Nested) -> tuple[Any, ...]:
        """Lists what the replicas of this process have."""

    @abc.abstractmethod
    def experimental_distribute_dataset(
        self, dataset: Source, options: InputOptions | None = None
    ) -> DistributedDataset:
        """Splits the global batches of a dataset over the replicas."""

    @abc.abstractmethod
    def distribute_datasets_from_function(
        self, dataset_fn: Callable[[InputContext], Any], options: InputOptions | None = None
    ) -> DistributedDataset:
        """Distributes a dataset that a function makes."""

    def experimental_run_v2(
        self,
        fn: Callable[..., Any],
        args: Sequence[Nested] = (),
        kwargs: Mapping[str, Nested] | None = None,
    ) -> Any:
        """Runs a function on every replica; now `run`.

        Source: `tf.distribute.Strategy.experimental_run_v2` of TensorFlow 2.0 and 2.1.
        """
        return self.run(fn, args, kwargs)

    def experimental_run(
        self, fn: Callable[..., Any], input_iterator: DistributedIterator | None = None
    ) -> Any:
        """Runs a function on every replica, on the next element of an iterator; now `run`.

        Raises:
            IndexError: the iterator has no further element.

        Source: `tf.distribute.Strategy.experimental_run`.
        """
        return self.run(fn, () if input_iterator is None else (input_iterator.get_next(),))

    def unwrap(self, value: Nested) -> tuple[Any, ...]:
        """Lists what the replicas of this process have; now `experimental_local_results`.

        Source: `tf.distribute.Strategy.unwrap`.
        """
        return self.experimental_local_results(value)

    def group(self, value: Nested, name: str | None = None) -> Any:
        """Waits until a value is computed.

        Returns:
            None; if there is only one value, that of the only replica, this value.

        Source: `tf.distribute.Strategy.group`, outside of graphs.
        """
        values = jax.tree.leaves(self.experimental_local_results(value))
        jax.block_until_ready(values)
        return values[0] if len(values) == 1 and name is None else None

    def make_dataset_iterator(self, dataset: Source) -> DistributedIterator:
        """Splits a dataset over the replicas, and starts a pass over it.

        Source: `tf.distribute.Strategy.make_dataset_iterator`.
        """
        return iter(self.experimental_distribute_dataset(dataset))

    def make_input_fn_iterator(
        self,
        input_fn: Callable[[InputContext], Any],
        replication_mode: InputReplicationMode = InputReplicationMode.PER_WORKER,
    ) -> DistributedIterator:
        """Distributes a dataset that a function makes, and starts a pass over it.

        Raises:
            ValueError: another mode.

        Source: `tf.distribute.Strategy.make_input_fn_iterator`.
        """
        if replication_mode is not InputReplicationMode.PER_WORKER:
            raise ValueError(
                f"Input pipelines are PER_WORKER here, but replication_mode is {replication_mode!r}. "
                "Leave it out."
            )
        return iter(self.distribute_datasets_from_function(input_fn))

    def experimental_make_numpy_dataset(
        self, numpy_input: Nested, session: object = None
    ) -> Dataset:
        """Makes a dataset of single rows of arrays: batch it, then distribute it.

        Raises:
            ValueError: there is no array, one is a scalar, or two of them differ in length.

        Examples:
            >>> from frontends import tf
            >>> import numpy as np
            >>> strategy = tf.distribute.OneDeviceStrategy("cpu:0")
            >>> len(strategy.experimental_make_numpy_dataset(np.zeros((5, 2))))
            5

        Source: `tf.distribute.Strategy.experimental_make_numpy_dataset` of TensorFlow 1 and 2.0.
        """
        return self.extended.experimental_make_numpy_dataset(numpy_input, session)

    make_experimental_numpy_dataset = experimental_make_numpy_dataset

    def colocate_vars_with(
        self, colocate_with_variable: object
    ) -> contextlib.AbstractContextManager[None]:
        """Does nothing: all variables are on the same devices.

        Source: `tf.distribute.Strategy.colocate_vars_with`.
        """
        return self.extended.colocate_vars_with(colocate_with_variable)
