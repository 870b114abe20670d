"""`tf.data.experimental.make_batched_features_dataset`: from files of examples to batches of features."""

from collections.abc import Callable, Sequence
from typing import Any, SupportsIndex

from frontends.tf.data.csv import in_turns, matching
from frontends.tf.data.dataset import Dataset
from frontends.tf.data.files import TFRecordDataset
from frontends.tf.io.features import Features
from frontends.tf.io.parsing import parse_example
from spmd.input.pipeline import Paths


def make_batched_features_dataset(
    file_pattern: Paths,
    batch_size: SupportsIndex,
    features: Features,
    reader: Callable[..., Dataset] | None = None,
    label_key: str | None = None,
    reader_args: Sequence[Any] | None = None,
    num_epochs: SupportsIndex | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: SupportsIndex = 10000,
    shuffle_seed: SupportsIndex | None = None,
    prefetch_buffer_size: int | None = None,
    reader_num_threads: SupportsIndex | None = None,
    parser_num_threads: int | None = None,
    sloppy_ordering: bool = False,
    drop_final_batch: bool = False,
) -> Dataset:
    """Reads files of `tf.train.Example` into batches of features by name.

    Args:
        file_pattern: A pattern, or a list of patterns or paths.
        batch_size: Examples of a batch.
        features: As of `tf.io.parse_example`.
        reader: Makes a dataset of a file's name; None means `tf.data.TFRecordDataset`.
        label_key: The feature that is the label.
        reader_args: Further arguments of `reader`.
        num_epochs: How often to read the files; None means without end.
        shuffle: Whether to put examples in random order.
        shuffle_buffer_size: As in `Dataset.shuffle`.
        shuffle_seed: As in `Dataset.shuffle`.
        prefetch_buffer_size: Accepted; not used.
        reader_num_threads: How many files are read in turns; None means 1.
        parser_num_threads: Accepted; not used.
        sloppy_ordering: Accepted; not used: the order never depends on timing.
        drop_final_batch: Leave out a last batch that is smaller; an endless dataset has none.

    Returns:
        A dataset of dicts, or with a label of pairs of a dict and an array.

    Raises:
        ValueError: no file matches, or `label_key` is no feature.

    Source: ``tf.data.experimental.make_batched_features_dataset``.
    """
    if label_key is not None and label_key not in features:
        raise ValueError(
            f"The `label_key` provided ({label_key!r}) must be one of the `features` keys: {sorted(features)}."
        )
    read = TFRecordDataset if reader is None else reader
    more = list(reader_args or ())

    def parse(serialized: Any) -> Any:
        parsed = dict(parse_example(serialized, features))
        return parsed if label_key is None else (parsed, parsed.pop(label_key))

    dataset = in_turns(
        matching(file_pattern),
        lambda name: read(name, *more),
        reader_num_threads,
        shuffle,
        shuffle_seed,
    )
    if shuffle:
        dataset = dataset.shuffle(shuffle_buffer_size, shuffle_seed)
    drop = drop_final_batch or num_epochs is None
    return dataset.repeat(num_epochs).batch(batch_size, drop).map(parse)
