"""Aliases of strategies' methods: their names in TensorFlow 1 and 2.0, for scripts that still use them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax

from frontends.tf._typing import Nested, Source
from frontends.tf.distribute.dataset import DistributedIterator
from frontends.tf.distribute.extended import StrategyExtended
from frontends.tf.distribute.input import InputContext, InputReplicationMode
from frontends.tf.distribute.inputs import StrategyInputs
from frontends.tf.distribute.results import StrategyResults


class StrategyAliases(StrategyInputs, StrategyResults):
    """Methods of strategies under the names of TensorFlow 1 and 2.0."""

    experimental_make_numpy_dataset = staticmethod(StrategyExtended.experimental_make_numpy_dataset)
    make_experimental_numpy_dataset = experimental_make_numpy_dataset
    colocate_vars_with = staticmethod(StrategyExtended.colocate_vars_with)

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
