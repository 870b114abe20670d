"""`tfds.load` and `tfds.as_numpy` for scripts that use this `tf`: with datasets of `frontends.tf.data`.

    from frontends import tf
    import tensorflow_datasets as tfds

    dataset = tfds.load("mnist", split="train", as_supervised=True)

TensorFlow Datasets reads its files without TensorFlow, but its `load` makes TensorFlow's datasets.
Importing this `tf` replaces these two functions once TensorFlow Datasets is imported, and does not import it.
"""

import itertools
import os
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, Protocol, TypeAlias

import jax
import numpy as np

from frontends.tf._after_import import after_import
from frontends.tf._typing import Nested, TensorLike
from frontends.tf.data.base import shuffle_order
from frontends.tf.data.dataset import Dataset
from frontends.tf.data.files import TFRecordDataset
from spmd.input.pipeline import ShuffleOrder, interleaved

# The name of a split, such as "train[:10%]", or a structure of them.
SplitLike: TypeAlias = Nested
# Functions of `tfds.decode`, in the structure of the features.
Decoders: TypeAlias = Nested
# A `tfds.ReadConfig`.
ReadConfig: TypeAlias = object
# A row of features, or what is picked from it.
Row: TypeAlias = Any


class _Part(Protocol):
    """A `tfds` file instruction: which rows of a file belong to a split."""

    filename: str
    skip: int
    take: int


class _Builder(Protocol):
    """What we read of a `tfds.core.DatasetBuilder`."""

    info: Any

    def as_data_source(self, split: SplitLike, *, decoders: Decoders) -> Any: ...


_PACKAGE = "tensorflow_datasets"
# What is smaller stays in memory after the first pass, as in TensorFlow Datasets (its `try_autocache`).
_CACHED_BYTES = 250 * 2**20
_ROWS_AT_ONCE = 32
# How many shuffled files are read in turns, and how many rows of each: TensorFlow Datasets' own numbers.
_FILES_AT_ONCE, _ROWS_IN_TURN = 16, 16


def load(
    name: str,
    *,
    split: SplitLike = None,
    data_dir: str | os.PathLike[str] | None = None,
    batch_size: int | None = None,
    shuffle_files: bool = False,
    download: bool = True,
    as_supervised: bool = False,
    decoders: Decoders = None,
    read_config: ReadConfig | None = None,
    with_info: bool = False,
    builder_kwargs: dict[str, Any] | None = None,
    download_and_prepare_kwargs: dict[str, Any] | None = None,
    as_dataset_kwargs: dict[str, Any] | None = None,
    try_gcs: bool = False,
    file_format: object | None = None,
) -> Nested:
    """Loads a data set by its name; prepares its files first, if there are none.

    Reads every format with random access, and TFRecords; prepares `array_record`. Preparing some data sets
    (such as `cats_vs_dogs`) takes TensorFlow; reading does not.

    Args:
        name: of the data set, such as "mnist" or "mnist:3.0.1".
        split: such as "train", "train[:10%]", or a list or dict of these; None is all, in a dict.
        data_dir: the folder of the files; None means TFDS_DATA_DIR, or else ~/tensorflow_datasets.
        batch_size: rows of a batch; None is single rows, -1 the whole split as arrays.
        shuffle_files: whether every pass reads the files in another order, 16 of them in turns. The rows of a
            file stay in order, so call `dataset.shuffle` as well.
        download: whether to prepare files that are missing.
        as_supervised: whether elements are (input, label), not a dict of all features.
        decoders: as of `tfds.decode`.
        read_config: `try_autocache` says whether small data sets stay in memory, unless files are
            shuffled; `shuffle_seed` and `shuffle_reshuffle_each_iteration` are those of
            `dataset.shuffle`, for the files; the rest is ignored.
        with_info: whether to return the `DatasetInfo` too.
        builder_kwargs: for the builder.
        download_and_prepare_kwargs: for its `download_and_prepare`.
        as_dataset_kwargs: override `split`, `batch_size`, `shuffle_files`, `as_supervised`, `decoders`
            and `read_config`.
        try_gcs: whether to read from Google's bucket.
        file_format: which files to read, or to prepare.

    Returns:
        A dataset, or a structure like `split` of them; with `with_info`, a tuple of that and the info.

    Raises:
        ValueError: `as_supervised`, but the data set does not name its labels.

    Source: `tfds.load`.
    """
    import tensorflow_datasets as tfds

    options = {
        "split": split,
        "batch_size": batch_size,
        "shuffle_files": shuffle_files,
        "as_supervised": as_supervised,
        "decoders": decoders,
        "read_config": read_config,
    } | (as_dataset_kwargs or {})
    kwargs: dict[str, Any] = {"data_dir": data_dir, "try_gcs": try_gcs} | (builder_kwargs or {})
    if file_format is not None:
        kwargs["file_format"] = file_format
    builder = tfds.builder(name, **kwargs)
    if download and not builder.is_prepared():
        # Only this format can be written without TensorFlow.
        kwargs.setdefault("file_format", "array_record")
        builder = tfds.builder(name, **kwargs)
        builder.download_and_prepare(**(download_and_prepare_kwargs or {}))
    if options["split"] is None:
        options["split"] = {key: key for key in builder.info.splits}
    loaded = jax.tree.map(lambda one: _dataset(builder, one, options), options["split"])
    return (loaded, builder.info) if with_info else loaded


def _dataset(builder: _Builder, split: SplitLike, options: dict[str, Any]) -> Nested:
    info, config = builder.info, options["read_config"]
    keys = info.supervised_keys if options["as_supervised"] else None
    if options["as_supervised"] and keys is None:
        raise ValueError(
            f"as_supervised=True, but the data set {info.full_name} has no supervised_keys, only the "
            f"features {sorted(info.features)}. Leave as_supervised out, and pick them: "
            'dataset.map(lambda row: (row["..."], row["..."])).'
        )
    rows = _Rows(builder, split, options["decoders"], keys)
    if options["shuffle_files"]:
        reshuffle = getattr(config, "shuffle_reshuffle_each_iteration", None)
        seed = getattr(config, "shuffle_seed", None)
        rows.order = shuffle_order(seed, reshuffle in (None, True), "tfds.load")
    dataset = Dataset.from_grain(rows)
    cached = getattr(config, "try_autocache", True) and 0 < info.dataset_size < _CACHED_BYTES
    # A cache keeps the order of its first pass.
    if cached and (rows.order is None or rows.files == 1):
        dataset = dataset.cache()
    size = options["batch_size"]
    if size == -1:
        return next(iter(dataset.batch(max(1, len(dataset)))))
    return dataset if size is None else dataset.batch(size)


class _Rows:
    """The rows of a split, decoded; each iteration is a pass.

    Attributes:
        order: of the files, another one for each pass; None keeps their order.
        files: how many there are.
    """

    order: ShuffleOrder | None = None

    def __init__(
        self, builder: _Builder, split: SplitLike, decoders: Decoders, keys: Nested | None
    ) -> None:
        """Opens the files.

        Args:
            builder: of TensorFlow Datasets, prepared.
            split: one split.
            decoders: as of `tfds.decode`.
            keys: the names of the features in an element's structure, or None for a dict of all.
        """
        self._keys, self._decoders = keys, decoders
        self._features = builder.info.features
        self._parts: list[_Part] = builder.info.splits[split].file_instructions
        self.files = len(self._parts)
        tfrecords = builder.info.file_format.value == "tfrecord"
        self._source: Any = (
            None if tfrecords else builder.as_data_source(split=split, decoders=decoders)
        )

    def __len__(self) -> int:
        return sum(part.take for part in self._parts)

    def __iter__(self) -> Iterator[Row]:
        read = self._records if self._source is None else self._indexed
        if self.order is None:
            rows = itertools.chain.from_iterable(map(read, range(self.files)))
        else:
            shuffled = self.order.begin_pass()[0].permutation(self.files)
            rows = interleaved(map(read, shuffled), _FILES_AT_ONCE, _ROWS_IN_TURN)
        for row in rows:
            yield row if self._keys is None else jax.tree.map(row.__getitem__, self._keys)

    def _indexed(self, file: int) -> Iterator[Row]:
        """Reads the part of a data source that is in one file, many rows at a time."""
        first = sum(part.take for part in self._parts[:file])
        numbers = range(first, first + self._parts[file].take)
        for start in range(0, len(numbers), _ROWS_AT_ONCE):
            yield from self._source.__getitems__(list(numbers[start : start + _ROWS_AT_ONCE]))

    def _records(self, file: int) -> Iterator[Row]:
        """Reads a TFRecord file, which TensorFlow Datasets itself reads with TensorFlow only."""
        part = self._parts[file]
        records = TFRecordDataset(part.filename)
        for record in itertools.islice(records, part.skip, part.skip + part.take):
            yield self._features.deserialize_example_np(bytes(record), decoders=self._decoders)


def as_numpy(dataset: Nested) -> Nested:
    """Converts a dataset's elements, or tensors, to NumPy arrays.

    Args:
        dataset: a dataset, a tensor, or a structure of these.

    Returns:
        The same structure: a dataset of this `tf.data` stays as it is, since its elements are NumPy's; a
        tensor becomes a NumPy array.

    Raises:
        TypeError: a leaf is neither.

    Source: `tfds.as_numpy`.
    """
    return jax.tree.map(_one_as_numpy, dataset)


def _one_as_numpy(leaf: TensorLike) -> Dataset | np.ndarray:
    if isinstance(leaf, Dataset):
        return leaf
    if hasattr(leaf, "__array__"):
        return np.asarray(leaf)
    if "tensorflow" in sys.modules:
        return _ORIGINAL["as_numpy"](leaf)
    raise TypeError(
        f"tfds.as_numpy takes datasets and tensors, but got a {type(leaf).__name__}. Pass what "
        "tfds.load gave."
    )


# ---- Changing TensorFlow Datasets, now or when it is imported.


def install() -> None:
    """Replaces `tfds.load` and `tfds.as_numpy`, now or when they are imported; idempotent, imports nothing."""
    after_import(_PACKAGE, _change)


# TensorFlow Datasets' own functions, for TensorFlow's objects.
_ORIGINAL: dict[str, Callable[..., Any]] = {}


def _change(module: ModuleType) -> None:
    replaced: Any = module
    if module.as_numpy is not as_numpy:
        _ORIGINAL["as_numpy"] = module.as_numpy
    replaced.load, replaced.as_numpy = load, as_numpy
