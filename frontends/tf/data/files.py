"""Datasets of what stands in files: lines of text, and TFRecords."""

from typing import SupportsIndex

from frontends.tf.data.constants import UNKNOWN_CARDINALITY
from frontends.tf.data.dataset import Dataset
from spmd.input.pipeline import (
    Paths,
    Reader,
    check_compression,
    file_records,
    is_reading_part,
    lines,
    own_files,
    paths,
    records,
)


def TextLineDataset(
    filenames: Paths | Dataset,
    compression_type: str | None = None,
    buffer_size: SupportsIndex | None = None,
    num_parallel_reads: SupportsIndex | None = None,
    name: str | None = None,
) -> Dataset:
    r"""Reads the lines of text files, one file after the other.

    Args:
        filenames: A path, a list of them, or a dataset of them.
        compression_type: None or `""`, `"GZIP"`, or `"ZLIB"`.
        num_parallel_reads: Ignored: files are read in order.

    Returns:
        A dataset of `bytes`, as in TensorFlow, without the ends of lines; of unknown cardinality.
        Reading it raises OSError where a file cannot be read.

    Raises:
        ValueError: `compression_type` is none of these.

    Examples:
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "words.txt")
        ...     with open(path, "w") as file:
        ...         _ = file.write("to be\nor not")
        ...     print(list(TextLineDataset(path)))
        [b'to be', b'or not']

    Source: ``tf.data.TextLineDataset``.
    """
    return _of_files("TextLineDataset", filenames, compression_type, lines)


def TFRecordDataset(
    filenames: Paths | Dataset,
    compression_type: str | None = None,
    buffer_size: SupportsIndex | None = None,
    num_parallel_reads: SupportsIndex | None = None,
    name: str | None = None,
) -> Dataset:
    r"""Reads the records of TFRecord files, one file after the other.

    The checksums of lengths are verified, so that a file of another kind, or one that was cut off, is
    noticed; those of the contents are not, since that takes long in Python.

    Args:
        filenames: A path, a list of them, or a dataset of them.
        compression_type: None or `""`, `"GZIP"`, or `"ZLIB"`.
        num_parallel_reads: Ignored: files are read in order.

    Returns:
        A dataset of `bytes`, of unknown cardinality. Reading it raises OSError where a file cannot be
        read, and ValueError where it holds no records.

    Raises:
        ValueError: `compression_type` is none of these.

    Examples:
        >>> import os, tempfile
        >>> record = bytes.fromhex("0300000000000000b099490e") + b"abc" + bytes.fromhex("6e57f121")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "data.tfrecord")
        ...     with open(path, "wb") as file:
        ...         _ = file.write(record)
        ...     print(list(TFRecordDataset(path)))
        [b'abc']

    Source: ``tf.data.TFRecordDataset``.
    """
    return _of_files("TFRecordDataset", filenames, compression_type, records)


def _of_files(
    op_name: str, filenames: Paths | Dataset, compression: str | None, read: Reader
) -> Dataset:
    check_compression(compression, op_name)
    if isinstance(filenames, Dataset):
        names = filenames
    elif is_reading_part():
        names = Dataset.from_generator(lambda: paths(filenames))
    else:
        names = Dataset.from_generator(lambda: own_files(paths(filenames)))

    return Dataset(
        lambda: file_records(names._form(), lambda: names, compression, read),
        UNKNOWN_CARDINALITY,
        orders=names._orders,
        options=names._options,
    )
