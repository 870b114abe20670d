"""What to read from an example under a key: the configurations that `tf.io.parse_example` and its like take."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from frontends.tf._typing import DTypeLike


class FixedLenFeature(NamedTuple):
    """A feature of one shape.

    Attributes:
        shape: of an example's feature.
        dtype: of its values: float32, int64 or string.
        default_value: where an example has none; None means that each must have it.

    Source: `tf.io.FixedLenFeature`.
    """

    shape: Any
    dtype: DTypeLike
    default_value: Any = None


class VarLenFeature(NamedTuple):
    """A feature with as many values as each example has; a `tf.SparseTensor` when parsed.

    Attributes:
        dtype: of its values.

    Source: `tf.io.VarLenFeature`.
    """

    dtype: DTypeLike


class FixedLenSequenceFeature(NamedTuple):
    """A feature of as many entries of one shape as each example has; in a batch, padded to the longest.

    Attributes:
        shape: of an entry.
        dtype: of the values.
        allow_missing: whether an example may have none; examples, which are no sequences, need True.
        default_value: what batches are padded with; None means zero, or the empty text.

    Source: `tf.io.FixedLenSequenceFeature`.
    """

    shape: Any
    dtype: DTypeLike
    allow_missing: bool = False
    default_value: Any = None


class SparseFeature(NamedTuple):
    """A sparse tensor, of which an example has the values and the indices under two keys, or more.

    Attributes:
        index_key: the key of the indices, or a list with one for each dimension.
        value_key: the key of the values.
        dtype: of the values.
        size: of the dimension, or a list of the sizes.
        already_sorted: whether the indices are in order.

    Source: `tf.io.SparseFeature`.
    """

    index_key: str | Sequence[str]
    value_key: str
    dtype: DTypeLike
    size: Any
    already_sorted: bool = False


@dataclasses.dataclass(frozen=True)
class _RowSplits:
    key: str


@dataclasses.dataclass(frozen=True)
class _RowLengths:
    key: str


@dataclasses.dataclass(frozen=True)
class _RowStarts:
    key: str


@dataclasses.dataclass(frozen=True)
class _RowLimits:
    key: str


@dataclasses.dataclass(frozen=True)
class _ValueRowIds:
    key: str


@dataclasses.dataclass(frozen=True)
class _UniformRowLength:
    length: int


class RaggedFeature(NamedTuple):
    """A feature with as many values as each example has; a `tf.RaggedTensor` when a batch is parsed.

    Attributes:
        dtype: of its values.
        value_key: the key of the values; None means the feature's own.
        partitions: how an example's values are divided into rows, the outermost first: `RaggedFeature.RowLengths(key)` and its
            like name the key of integers.
        row_splits_dtype: accepted; splits have int64.
        validate: whether the rows are checked.

    Source: `tf.io.RaggedFeature`.
    """

    dtype: DTypeLike
    value_key: str | None = None
    partitions: Sequence[Any] = ()
    row_splits_dtype: DTypeLike = "int32"
    validate: bool = False

    RowSplits = _RowSplits
    RowLengths = _RowLengths
    RowStarts = _RowStarts
    RowLimits = _RowLimits
    ValueRowIds = _ValueRowIds
    UniformRowLength = _UniformRowLength


Feature: TypeAlias = (
    FixedLenFeature | VarLenFeature | FixedLenSequenceFeature | SparseFeature | RaggedFeature
)
Features: TypeAlias = Mapping[str, Feature]
