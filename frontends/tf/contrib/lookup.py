"""`tf.contrib.lookup`: tables of TensorFlow 1."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from frontends.tf._names import attributes, defined_in
from frontends.tf._typing import DTypeLike, TensorLike
from frontends.tf.lookup.initializers import (
    KeyValueTensorInitializer,
    TextFileIdTableInitializer,
    TextFileIndex,
    TextFileInitializer,
    TextFileStringTableInitializer,
)
from frontends.tf.lookup.tables import (
    DenseHashTable,
    MutableHashTable,
    StaticHashTable,
    StaticVocabularyTable,
)
from spmd.typing import StrPath


def index_table_from_tensor(
    mapping: TensorLike,
    num_oov_buckets: int = 0,
    default_value: int = -1,
    hasher_spec: object = None,
    dtype: DTypeLike = "string",
    name: str | None = None,
) -> Any:
    """Makes a table of the numbers of words.

    Args:
        mapping: the words, in order.
        num_oov_buckets: how many buckets there are for other words.
        default_value: of other words, if there are no buckets.
        hasher_spec: accepted; buckets are those of FarmHash, as by default in TensorFlow.
        dtype: of the words.

    Source: `tf.contrib.lookup.index_table_from_tensor`.
    """
    words = KeyValueTensorInitializer(
        mapping, np.arange(np.size(np.asarray(mapping, object))), dtype, "int64"
    )
    return _table(words, num_oov_buckets, default_value)


def index_table_from_file(
    vocabulary_file: StrPath,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    hasher_spec: object = None,
    key_dtype: DTypeLike = "string",
    name: str | None = None,
    key_column_index: int = TextFileIndex.WHOLE_LINE,
    value_column_index: int = TextFileIndex.LINE_NUMBER,
    delimiter: str = "\t",
) -> Any:
    """Makes a table of the numbers of words, which a file has in its lines; see `index_table_from_tensor`.

    Args:
        vocabulary_file: the file.
        num_oov_buckets: how many buckets there are for other words.
        vocab_size: how many lines to take; None means all.
        default_value: of other words, if there are no buckets.
        hasher_spec: accepted; buckets are those of FarmHash, as by default in TensorFlow.
        key_dtype: of the words.
        key_column_index: what of a line is the word; see `tf.lookup.TextFileIndex`.
        value_column_index: what of a line is the number.
        delimiter: between columns.

    Source: `tf.contrib.lookup.index_table_from_file`.
    """
    words = TextFileIdTableInitializer(
        vocabulary_file,
        key_column_index,
        value_column_index,
        vocab_size,
        delimiter,
        key_dtype=key_dtype,
    )
    return _table(words, num_oov_buckets, default_value)


def index_to_string_table_from_tensor(
    mapping: Sequence[str], default_value: str = "UNK", name: str | None = None
) -> StaticHashTable:
    """Makes a table of words, by their numbers.

    Source: `tf.contrib.lookup.index_to_string_table_from_tensor`.
    """
    count = np.size(np.asarray(mapping, object))
    return StaticHashTable(
        KeyValueTensorInitializer(np.arange(count), mapping, "int64"), default_value
    )


def index_to_string_table_from_file(
    vocabulary_file: StrPath,
    vocab_size: int | None = None,
    default_value: str = "UNK",
    name: str | None = None,
    key_column_index: int = TextFileIndex.LINE_NUMBER,
    value_column_index: int = TextFileIndex.WHOLE_LINE,
    delimiter: str = "\t",
) -> StaticHashTable:
    """Makes a table of words, which a file has in its lines, by their numbers; see `index_table_from_file`.

    Source: `tf.contrib.lookup.index_to_string_table_from_file`.
    """
    words = TextFileStringTableInitializer(
        vocabulary_file, key_column_index, value_column_index, vocab_size, delimiter
    )
    return StaticHashTable(words, default_value)


def _table(words: Any, num_oov_buckets: int, default_value: int) -> Any:
    if num_oov_buckets:
        return StaticVocabularyTable(words, num_oov_buckets)
    return StaticHashTable(words, default_value)


__getattr__, __dir__ = attributes(
    "tf.contrib.lookup",
    {
        **defined_in(__name__),
        "HashTable": StaticHashTable,
        "KeyValueTensorInitializer": KeyValueTensorInitializer,
        "MutableDenseHashTable": DenseHashTable,
        "MutableHashTable": MutableHashTable,
        "TextFileIdTableInitializer": TextFileIdTableInitializer,
        "TextFileIndex": TextFileIndex,
        "TextFileInitializer": TextFileInitializer,
        "TextFileStringTableInitializer": TextFileStringTableInitializer,
    },
)
