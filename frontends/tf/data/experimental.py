"""`tf.data.experimental`: the parts of it that distribution scripts use.

Source: ``tf.data.experimental``.
"""

import operator
from collections.abc import Callable, Sequence
from typing import Any, SupportsIndex

import numpy as np

from frontends.tf import _names
from frontends.tf._typing import DTypeLike, Nested, TensorLike
from frontends.tf.data.batched_features import (
    make_batched_features_dataset as make_batched_features_dataset,
)
from frontends.tf.data.constants import AUTOTUNE as AUTOTUNE
from frontends.tf.data.constants import INFINITE_CARDINALITY as INFINITE_CARDINALITY
from frontends.tf.data.constants import UNKNOWN_CARDINALITY as UNKNOWN_CARDINALITY
from frontends.tf.data.csv import CsvDataset as CsvDataset
from frontends.tf.data.csv import make_csv_dataset as make_csv_dataset
from frontends.tf.data.dataset import Dataset
from frontends.tf.data.iterator import ElementIterator
from frontends.tf.data.iterator import Optional as Optional
from frontends.tf.data.options import AutoShardPolicy as AutoShardPolicy
from frontends.tf.data.options import AutotuneOptions as AutotuneOptions
from frontends.tf.data.options import DistributeOptions as DistributeOptions
from frontends.tf.data.options import OptimizationOptions as OptimizationOptions
from frontends.tf.data.options import ThreadingOptions as ThreadingOptions
from frontends.tf.io.features import Features
from frontends.tf.io.parsing import parse_example
from frontends.tf.io.record_writer import TFRecordWriter as _FileWriter
from spmd.input.pipeline import counted, stack, to_element
from spmd.typing import StrPath

Counter = Dataset.counter
RandomDataset = Dataset.random
choose_from_datasets = Dataset.choose_from_datasets
sample_from_datasets = Dataset.sample_from_datasets
get_single_element = Dataset.get_single_element
save = Dataset.save
load = Dataset.load


def dense_to_ragged_batch(
    batch_size: SupportsIndex,
    drop_remainder: bool = False,
    row_splits_dtype: DTypeLike = "int64",
) -> Callable[[Dataset], Dataset]:
    """Stacks elements whose components differ in size, as ragged tensors; see `Dataset.ragged_batch`.

    Args:
        batch_size: At least 1.
        drop_remainder: Drop a last batch of fewer elements.
        row_splits_dtype: Accepted; splits have int64.

    Returns:
        A function for `Dataset.apply`.

    Source: ``tf.data.experimental.dense_to_ragged_batch``.
    """
    return lambda dataset: dataset.ragged_batch(batch_size, drop_remainder)


def cardinality(dataset: Dataset) -> np.int64:
    """Returns the number of elements of a dataset; see `Dataset.cardinality`.

    Args:
        dataset: The dataset.

    Returns:
        The count, `INFINITE_CARDINALITY` or `UNKNOWN_CARDINALITY`.

    Examples:
        >>> from frontends.tf import data
        >>> print(data.experimental.cardinality(data.Dataset.range(10).batch(4)))
        3

    Source: ``tf.data.experimental.cardinality``.
    """
    return dataset.cardinality()


def assert_cardinality(expected_cardinality: SupportsIndex) -> Callable[[Dataset], Dataset]:
    """Declares how many elements a dataset has, where that cannot be known without reading it.

    Args:
        expected_cardinality: The count, or `INFINITE_CARDINALITY`.

    Returns:
        A function for `Dataset.apply`. The dataset that it returns raises ValueError when a pass
        turns out to have more or fewer elements.

    Raises:
        TypeError: `expected_cardinality` is not an integer.

    Examples:
        >>> from frontends.tf import data
        >>> evens = data.Dataset.range(10).filter(lambda x: x % 2 == 0)
        >>> len(evens.apply(data.experimental.assert_cardinality(5)))
        5

    Source: ``tf.data.experimental.assert_cardinality``.
    """
    expected = operator.index(expected_cardinality)
    return lambda dataset: dataset._derive(lambda form: counted(form, expected), expected)


def map_and_batch(
    map_func: Callable[..., Any],
    batch_size: SupportsIndex,
    num_parallel_batches: int | None = None,
    drop_remainder: bool = False,
    num_parallel_calls: int | None = None,
) -> Callable[[Dataset], Dataset]:
    """Maps and batches; the same as `Dataset.map` and `Dataset.batch`, which are as quick.

    Args:
        map_func: As in `Dataset.map`.
        batch_size: As in `Dataset.batch`.
        drop_remainder: As in `Dataset.batch`.
        num_parallel_calls: As in `Dataset.map`.

    Returns:
        A function for `Dataset.apply`.

    Examples:
        >>> from frontends.tf import data
        >>> doubled = data.experimental.map_and_batch(lambda x: 2 * x, 2)
        >>> [x.tolist() for x in data.Dataset.range(4).apply(doubled)]
        [[0, 2], [4, 6]]

    Source: ``tf.data.experimental.map_and_batch``.
    """
    return lambda dataset: dataset.map(map_func, num_parallel_calls).batch(
        batch_size, drop_remainder
    )


def shuffle_and_repeat(
    buffer_size: SupportsIndex,
    count: SupportsIndex | None = None,
    seed: SupportsIndex | None = None,
) -> Callable[[Dataset], Dataset]:
    """Shuffles and repeats; the same as `Dataset.shuffle` and `Dataset.repeat`.

    Args:
        buffer_size: As in `Dataset.shuffle`.
        count: As in `Dataset.repeat`.
        seed: As in `Dataset.shuffle`.

    Returns:
        A function for `Dataset.apply`.

    Examples:
        >>> from frontends.tf import data
        >>> twice = data.experimental.shuffle_and_repeat(3, count=2)
        >>> sorted(int(x) for x in data.Dataset.range(3).apply(twice))
        [0, 0, 1, 1, 2, 2]

    Source: ``tf.data.experimental.shuffle_and_repeat``.
    """
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


def parallel_interleave(
    map_func: Callable[..., Any],
    cycle_length: SupportsIndex,
    block_length: SupportsIndex = 1,
    sloppy: bool | None = False,
    buffer_output_elements: int | None = None,
    prefetch_input_elements: int | None = None,
) -> Callable[[Dataset], Dataset]:
    """Reads several datasets in turns; the same as `Dataset.interleave`.

    Args:
        map_func: As in `Dataset.interleave`.
        cycle_length: As in `Dataset.interleave`.
        block_length: As in `Dataset.interleave`.
        sloppy: Ignored: the order never depends on timing.

    Returns:
        A function for `Dataset.apply`.

    Examples:
        >>> from frontends.tf import data
        >>> repeated = data.experimental.parallel_interleave(
        ...     lambda x: data.Dataset.from_tensors(x).repeat(2), cycle_length=2
        ... )
        >>> [int(x) for x in data.Dataset.range(3).apply(repeated)]
        [0, 1, 0, 1, 2, 2]

    Source: ``tf.data.experimental.parallel_interleave``.
    """
    return lambda dataset: dataset.interleave(map_func, cycle_length, block_length)


def prefetch_to_device(device: str, buffer_size: int | None = None) -> Callable[[Dataset], Dataset]:
    """Changes nothing: a distributed dataset is put on its devices ahead of the step by itself.

    Returns:
        A function for `Dataset.apply`.

    Examples:
        >>> from frontends.tf import data
        >>> len(data.Dataset.range(3).apply(data.experimental.prefetch_to_device("/gpu:0")))
        3

    Source: ``tf.data.experimental.prefetch_to_device``.
    """
    return lambda dataset: dataset


def parse_example_dataset(
    features: Features, num_parallel_calls: int | None = 1, deterministic: bool | None = None
) -> Callable[[Dataset], Dataset]:
    """Reads batches of serialized examples; the same as a map with `tf.io.parse_example`.

    Args:
        features: As of `tf.io.parse_example`.
        num_parallel_calls: As in `Dataset.map`.
        deterministic: Accepted; not used.

    Returns:
        A function for `Dataset.apply`.

    Source: ``tf.data.experimental.parse_example_dataset``.
    """
    return lambda dataset: dataset.map(
        lambda serialized: parse_example(serialized, features), num_parallel_calls
    )


def ignore_errors(log_warning: bool = False) -> Callable[[Dataset], Dataset]:
    """Leaves out elements whose computation fails; the same as `Dataset.ignore_errors`.

    Args:
        log_warning: As there.

    Returns:
        A function for `Dataset.apply`.

    Source: ``tf.data.experimental.ignore_errors``.
    """
    return lambda dataset: dataset.ignore_errors(log_warning)


def rejection_resample(
    class_func: Callable[..., Any],
    target_dist: TensorLike,
    initial_dist: TensorLike = None,
    seed: SupportsIndex | None = None,
) -> Callable[[Dataset], Dataset]:
    """Leaves elements out by their class; the same as `Dataset.rejection_resample`.

    Args:
        class_func: As there.
        target_dist: As there.
        initial_dist: As there.
        seed: As there.

    Returns:
        A function for `Dataset.apply`.

    Source: ``tf.data.experimental.rejection_resample``.
    """
    return lambda dataset: dataset.rejection_resample(class_func, target_dist, initial_dist, seed)


def snapshot(
    path: StrPath,
    compression: str | None = "AUTO",
    reader_func: Callable[..., Any] | None = None,
    shard_func: Callable[..., Any] | None = None,
) -> Callable[[Dataset], Dataset]:
    """Keeps elements in files; the same as `Dataset.snapshot`.

    Args:
        path: As there.
        compression: As there.
        reader_func: Accepted; not used.
        shard_func: Accepted; not used.

    Returns:
        A function for `Dataset.apply`.

    Source: ``tf.data.experimental.snapshot``.
    """
    return lambda dataset: dataset.snapshot(path, compression)


def unbatch() -> Callable[[Dataset], Dataset]:
    """Takes batches apart; the same as `Dataset.unbatch`.

    Returns:
        A function for `Dataset.apply`.

    Source: ``tf.data.experimental.unbatch``.
    """
    return lambda dataset: dataset.unbatch()


def bucket_by_sequence_length(
    element_length_func: Callable[..., Any],
    bucket_boundaries: Sequence[int],
    bucket_batch_sizes: Sequence[int],
    padded_shapes: Nested = None,
    padding_values: Nested = None,
    pad_to_bucket_boundary: bool = False,
    no_padding: bool = False,
    drop_remainder: bool = False,
) -> Callable[[Dataset], Dataset]:
    """Batches elements of similar length; the same as `Dataset.bucket_by_sequence_length`, with its arguments.

    Returns:
        A function for `Dataset.apply`.

    Source: ``tf.data.experimental.bucket_by_sequence_length``.
    """
    return lambda dataset: dataset.bucket_by_sequence_length(
        element_length_func,
        bucket_boundaries,
        bucket_batch_sizes,
        padded_shapes,
        padding_values,
        pad_to_bucket_boundary,
        no_padding,
        drop_remainder,
    )


def copy_to_device(target_device: str, source_device: str = "/cpu:0") -> Callable[..., Dataset]:
    """Changes nothing: a distributed dataset is put on its devices ahead of the step by itself.

    Args:
        target_device: accepted; not used.
        source_device: accepted; not used.

    Returns:
        A function for `Dataset.apply`.

    Source: ``tf.data.experimental.copy_to_device``.
    """
    return lambda dataset: dataset


def enable_debug_mode() -> None:
    """Has no effect: a map function that fails tells its line already, and `breakpoint()` works where it runs as Python.

    Source: ``tf.data.experimental.enable_debug_mode``.
    """


def enumerate_dataset(start: SupportsIndex = 0) -> Callable[[Dataset], Dataset]:
    """Puts a number in front of every element; the same as `Dataset.enumerate`.

    Returns:
        A function for `Dataset.apply`.

    Source: ``tf.data.experimental.enumerate_dataset``.
    """
    return lambda dataset: dataset.enumerate(start)


def from_list(elements: Sequence[Nested], name: str | None = None) -> Dataset:
    """Makes a dataset of a list of elements of one structure.

    Args:
        elements: at least one.

    Raises:
        ValueError: there are none.

    Source: ``tf.data.experimental.from_list``.
    """
    if not elements:
        raise ValueError("Invalid `elements`. `elements` should not be empty.")
    return Dataset.from_tensor_slices(stack([*map(to_element, elements)]))


def get_next_as_optional(iterator: ElementIterator) -> Optional:
    """Returns the next element of an iterator, or an optional without a value at the end.

    Source: ``tf.data.experimental.get_next_as_optional``.
    """
    return iterator.get_next_as_optional()


def get_structure(dataset_or_iterator: Any) -> Nested:
    """Returns the specs of a dataset's or iterator's elements: its `element_spec`.

    Source: ``tf.data.experimental.get_structure``.
    """
    return dataset_or_iterator.element_spec


def group_by_window(
    key_func: Callable[..., Any],
    reduce_func: Callable[[Any, Any], Any],
    window_size: SupportsIndex | None = None,
    window_size_func: Callable[[Any], Any] | None = None,
) -> Callable[[Dataset], Dataset]:
    """Collects elements by a key; the same as `Dataset.group_by_window`.

    Returns:
        A function for `Dataset.apply`.

    Source: ``tf.data.experimental.group_by_window``.
    """
    return lambda dataset: dataset.group_by_window(
        key_func, reduce_func, window_size, window_size_func
    )


def scan(
    initial_state: Nested, scan_func: Callable[[Any, Any], tuple[Any, Any]]
) -> Callable[[Dataset], Dataset]:
    """Hands a state on from element to element; the same as `Dataset.scan`.

    Returns:
        A function for `Dataset.apply`.

    Source: ``tf.data.experimental.scan``.
    """
    return lambda dataset: dataset.scan(initial_state, scan_func)


def take_while(predicate: Callable[..., Any]) -> Callable[[Dataset], Dataset]:
    """Keeps the elements before the first that fails; the same as `Dataset.take_while`.

    Returns:
        A function for `Dataset.apply`.

    Source: ``tf.data.experimental.take_while``.
    """
    return lambda dataset: dataset.take_while(predicate)


def unique() -> Callable[[Dataset], Dataset]:
    """Drops elements that are equal to one before; the same as `Dataset.unique`.

    Returns:
        A function for `Dataset.apply`.

    Source: ``tf.data.experimental.unique``.
    """
    return lambda dataset: dataset.unique()


class TFRecordWriter:
    """Writes a dataset of texts to a TFRecord file.

    Args:
        filename: the file.
        compression_type: None, `"GZIP"` or `"ZLIB"`.

    Examples:
        >>> import os, tempfile
        >>> from frontends import tf
        >>> path = os.path.join(tempfile.mkdtemp(), "words.tfrecord")
        >>> words = tf.data.Dataset.from_tensor_slices([b"to", b"be"])
        >>> tf.data.experimental.TFRecordWriter(path).write(words)
        >>> list(tf.data.TFRecordDataset(path))
        [b'to', b'be']

    Source: ``tf.data.experimental.TFRecordWriter``.
    """

    def __init__(self, filename: StrPath, compression_type: str | None = None) -> None:
        """Keeps the file's name."""
        self._filename, self._compression = filename, compression_type

    def write(self, dataset: Dataset) -> None:
        """Writes all elements.

        Raises:
            TypeError: an element is no text.
        """
        with _FileWriter(self._filename, self._compression) as writer:
            for record in dataset:
                writer.write(record)


__getattr__, __dir__ = _names.attributes(
    "tf.data.experimental", {}, present=_names.exported_by(__name__)
)
