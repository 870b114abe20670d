"""`tf.keras.utils.experimental.DatasetCreator`: a dataset that each worker makes for itself."""

from collections.abc import Callable
from typing import Any

from frontends.tf.data.dataset import Dataset
from frontends.tf.distribute.dataset import DistributedDataset
from frontends.tf.distribute.input import InputContext, InputOptions
from frontends.tf.distribute.scope import StrategyLike


class DatasetCreator:
    """A function that makes the input of `model.fit`, as parameter server training needs it.

    Examples:
        >>> from frontends import tf
        >>> def make(context):
        ...     return tf.data.Dataset.range(6).batch(context.get_per_replica_batch_size(3))
        >>> creator = DatasetCreator(make)
        >>> len(creator(tf.distribute.InputContext()))
        2

    Source: `tf.keras.utils.experimental.DatasetCreator`.
    """

    def __init__(
        self,
        dataset_fn: Callable[[InputContext], Dataset],
        input_options: InputOptions | None = None,
    ) -> None:
        """Takes the function.

        Args:
            dataset_fn: takes a `tf.distribute.InputContext`, and returns a `tf.data.Dataset` of batches.
            input_options: how it is distributed.

        Raises:
            TypeError: `dataset_fn` cannot be called, or `input_options` are none.
        """
        if not callable(dataset_fn):
            raise TypeError(
                f"`dataset_fn` for `DatasetCreator` must be a `callable`. Received: {dataset_fn!r}. Pass the function "
                "itself: DatasetCreator(make_dataset)."
            )
        if input_options is not None and not isinstance(input_options, InputOptions):
            raise TypeError(
                "`input_options` for `DatasetCreator` must be a `tf.distribute.InputOptions`. Received: "
                f"{input_options!r}."
            )
        self.dataset_fn, self.input_options = dataset_fn, input_options

    def __call__(self, *args: Any, **kwargs: Any) -> Dataset:
        """Makes the dataset.

        Raises:
            TypeError: the function returned something else.
        """
        dataset = self.dataset_fn(*args, **kwargs)
        if not isinstance(dataset, Dataset):
            raise TypeError(
                "The `callable` provided to `DatasetCreator` must return a Dataset. It returns "
                f"{type(dataset).__name__}: {dataset!r:.80}. Return a tf.data.Dataset."
            )
        return dataset


def made(value: Any, strategy: StrategyLike) -> Any:
    """Makes the dataset of a `DatasetCreator`, for a strategy; any other value stays.

    Args:
        value: an argument of `fit`, `evaluate` or `predict`.
        strategy: where the model runs.
    """
    if not isinstance(value, DatasetCreator):
        return value
    if strategy.num_replicas_in_sync == 1:
        return value(InputContext())
    distribute: Callable[..., DistributedDataset] = strategy.distribute_datasets_from_function  # pyright: ignore[reportAttributeAccessIssue]
    return distribute(value, value.input_options)
