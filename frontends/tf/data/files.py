"""Datasets of what stands in files: lines of text, TFRecords, and records of equal length."""

import functools
from typing import SupportsIndex

from frontends.tf.data.base import integer
from frontends.tf.data.constants import AUTOTUNE, UNKNOWN_CARDINALITY
from frontends.tf.data.dataset import Dataset
from spmd.input.pipeline import (
    Paths,
    Reader,
    check_compression,
    file_records,
    fixed_length_records,
    is_reading_part,
    lines,
    own_files,
    paths,
    records,
)

# TensorFlow takes the number of cores; then the order would depend on the machine.
_AT_ONCE = 8


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
        buffer_size: Accepted; not used.
        num_parallel_reads: How many files are read in turns, a line from each; None means one after the other, and
            `AUTOTUNE` eight in turns, on every machine.

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
    return of_files("TextLineDataset", filenames, compression_type, lines, num_parallel_reads)


def TFRecordDataset(
    filenames: Paths | Dataset,
    compression_type: str | None = None,
    buffer_size: SupportsIndex | None = None,
    num_parallel_reads: SupportsIndex | None = None,
    name: str | None = None,
) -> Dataset:
    r"""Reads the records of TFRecord files, one file after the other.

    All checksums are verified.

    Args:
        filenames: A path, a list of them, or a dataset of them.
        compression_type: None or `""`, `"GZIP"`, or `"ZLIB"`.
        buffer_size: How many bytes to read at once; at least 256 KiB.
        num_parallel_reads: How many files are read in turns, a record from each; None means one after the other, and
            `AUTOTUNE` eight in turns, on every machine.

    Returns:
        A dataset of `bytes`, of unknown cardinality. Reading it raises OSError where a file cannot be
        read, and `tf.errors.DataLossError` (a ValueError), which names the file and the byte, where it is damaged: after
        the records before.

    Raises:
        ValueError: `compression_type` is none of these, or a number is too small.

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
    block = 0 if buffer_size is None else integer(buffer_size, "TFRecordDataset: buffer_size", 0)
    read = functools.partial(records, block_size=block)
    return of_files("TFRecordDataset", filenames, compression_type, read, num_parallel_reads)


def FixedLengthRecordDataset(
    filenames: Paths | Dataset,
    record_bytes: SupportsIndex,
    header_bytes: SupportsIndex | None = None,
    footer_bytes: SupportsIndex | None = None,
    buffer_size: SupportsIndex | None = None,
    compression_type: str | None = None,
    num_parallel_reads: SupportsIndex | None = None,
    name: str | None = None,
) -> Dataset:
    r"""Reads records of equal length from binary files, one file after the other.

    Args:
        filenames: A path, a list of them, or a dataset of them.
        record_bytes: Bytes of a record.
        header_bytes: Bytes before the first record of a file; None means 0.
        footer_bytes: Bytes after the last one; None means 0.
        buffer_size: Accepted; not used.
        compression_type: None or `""`, `"GZIP"`, or `"ZLIB"`.
        num_parallel_reads: As of `TFRecordDataset`.

    Returns:
        A dataset of `bytes`, of unknown cardinality. Reading it raises OSError where a file cannot be read, and
        `tf.errors.DataLossError` (a ValueError) where it holds a part of a record.

    Raises:
        ValueError: `compression_type` is none of these, or a number is too small.

    Examples:
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "data.bin")
        ...     with open(path, "wb") as file:
        ...         _ = file.write(b"head" + b"abcdef")
        ...     print(list(FixedLengthRecordDataset(path, 3, header_bytes=4)))
        [b'abc', b'def']

    Source: ``tf.data.FixedLengthRecordDataset``.
    """
    read = functools.partial(
        fixed_length_records,
        size=integer(record_bytes, "FixedLengthRecordDataset: record_bytes", 1),
        header=integer(header_bytes or 0, "FixedLengthRecordDataset: header_bytes", 0),
        footer=integer(footer_bytes or 0, "FixedLengthRecordDataset: footer_bytes", 0),
    )
    return of_files(
        "FixedLengthRecordDataset", filenames, compression_type, read, num_parallel_reads
    )


def of_files(
    op_name: str,
    filenames: Paths | Dataset,
    compression: str | None,
    read: Reader,
    parallel: SupportsIndex | None,
) -> Dataset:
    """Makes a dataset of what is read from files.

    Args:
        op_name: the function's name, for errors.
        filenames: A path, a list of them, or a dataset of them.
        compression: the compression's name.
        read: takes the elements out of an open file.
        parallel: how many files are read in turns.

    Raises:
        ValueError: there is no such compression, or a number is too small.
    """
    check_compression(compression, op_name)
    at_once = 1 if parallel is None else integer(parallel, f"{op_name}: num_parallel_reads")
    if at_once == AUTOTUNE:
        at_once = _AT_ONCE
    elif at_once < 1:
        raise ValueError(
            f"{op_name}: num_parallel_reads must be None, tf.data.AUTOTUNE or at least 1, got {at_once}.\n"
            "Fix: num_parallel_reads=tf.data.AUTOTUNE"
        )
    if isinstance(filenames, Dataset):
        names = filenames
    elif is_reading_part():
        names = Dataset.from_generator(lambda: paths(filenames))
    else:
        names = Dataset.from_generator(lambda: own_files(paths(filenames)))

    return Dataset(
        lambda: file_records(names._form(), lambda: names, compression, read, at_once),
        UNKNOWN_CARDINALITY,
        orders=names._orders,
        options=names._options,
    )
