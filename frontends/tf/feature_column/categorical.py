"""Columns of a feature's own buckets: by hash values, by a vocabulary, and integers as they are."""

import abc
import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf._typing import DTypeLike
from frontends.tf.dtypes import DType, as_dtype
from frontends.tf.feature_column import fingerprints
from frontends.tf.feature_column.column import CategoricalColumn, Features, Ids, check_key
from frontends.tf.feature_column.parsing import ParseSpec, VarLenFeature
from frontends.tf.feature_column.texts import Texts, is_empty
from frontends.tf.feature_column.vocabulary_table import IntegerTable, TextTable
from frontends.tf.io import gfile

# Numbers of buckets are int32.
_MOST = 2**31 - 1


class _OfFeature(CategoricalColumn):
    """A column of one feature, of texts or integers."""

    key: str
    dtype: DType

    @property
    def name(self) -> str:
        """The key."""
        return self.key

    @property
    def parse_example_spec(self) -> ParseSpec:
        """Any number of values."""
        return {self.key: VarLenFeature(self.dtype)}

    def ids(self, features: Features) -> Ids:
        """Returns the buckets; empty texts and -1 are missing values."""
        found = features.get(self.key)
        _check_dtype(found, self.dtype, f"column_name: {self.key} input_tensor")
        if as_dtype(found.dtype).is_integer != self.dtype.is_integer:
            raise ValueError(
                f"Column dtype and SparseTensors dtype must be compatible. key: {self.key}, column dtype: {self.dtype}, tensor "
                f"dtype: {as_dtype(found.dtype)}. Give the column the feature's dtype: dtype=tf.{as_dtype(found.dtype).name}."
            )
        present = ~is_empty(found) if isinstance(found, Texts) else found != -1
        return Ids(self._buckets(found).astype(jnp.int32), present)

    @abc.abstractmethod
    def _buckets(self, values: Any) -> jax.Array: ...


def _check_dtype(values: Any, _: DType, what: str) -> None:
    of = as_dtype(values.dtype)
    if not (of.is_integer or isinstance(values, Texts)):
        raise ValueError(
            f"{what} dtype must be string or integer. dtype: {of}. Cast the feature, or use bucketized_column for numbers."
        )


def _hashed(values: Any, count: int) -> jax.Array:
    """Gives texts, and integers as texts, to buckets by their hash values."""
    if isinstance(values, Texts):
        return values.buckets(count)
    return fingerprints.of_decimals(values.astype(jnp.int32)) % count


@dataclasses.dataclass(frozen=True)
class HashedCategoricalColumn(_OfFeature):
    """See `categorical_column_with_hash_bucket`."""

    key: str
    hash_bucket_size: int
    dtype: DType

    @property
    def num_buckets(self) -> int:
        """As many as it was given."""
        return self.hash_bucket_size

    def _buckets(self, values: Any) -> jax.Array:
        return _hashed(values, self.hash_bucket_size)


def categorical_column_with_hash_bucket(
    key: str, hash_bucket_size: int, dtype: DTypeLike = "string"
) -> HashedCategoricalColumn:
    """Gives texts or integers to buckets by their hash values, which are TensorFlow's.

    Args:
        key: of the feature, `[batch]` or `[batch, size]`; empty texts and -1 are missing values.
        hash_bucket_size: number of buckets.
        dtype: of the feature: `tf.string`, or one of integers.

    Raises:
        ValueError: there are no buckets or more than 2**31 - 1; or the dtype is another.

    Source: `tf.feature_column.categorical_column_with_hash_bucket`.
    """
    check_bucket_size(hash_bucket_size, f", key: {key}")
    check_key(key)
    return HashedCategoricalColumn(key, int(hash_bucket_size), _text_or_integer(key, dtype))


def check_bucket_size(size: Any, where: str = "") -> None:
    """Checks a number of hash buckets.

    Raises:
        ValueError: there are none, or too many.
    """
    if size is None:
        raise ValueError(f"hash_bucket_size must be set{where}")
    if not 1 <= size <= _MOST:
        raise ValueError(
            f"hash_bucket_size must be at least 1, and at most {_MOST}. hash_bucket_size: {size}{where}"
        )


def _text_or_integer(key: str, dtype: DTypeLike, what: str = "") -> DType:
    of = as_dtype(dtype)
    if of != as_dtype("string") and not of.is_integer:
        raise ValueError(f"column_name: {key}{what} dtype must be string or integer. dtype: {of}.")
    return of


@dataclasses.dataclass(frozen=True)
class IdentityCategoricalColumn(_OfFeature):
    """See `categorical_column_with_identity`."""

    key: str
    number_buckets: int
    default_value: int | None

    @property
    def dtype(self) -> DType:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Of integers."""
        return as_dtype("int64")

    @property
    def num_buckets(self) -> int:
        """As many as it was given."""
        return self.number_buckets

    def _buckets(self, values: Any) -> jax.Array:
        if self.default_value is None:
            return values
        inside = (values >= 0) & (values < self.number_buckets)
        return jnp.where(inside, values, self.default_value)


def categorical_column_with_identity(
    key: str, num_buckets: int, default_value: int | None = None
) -> IdentityCategoricalColumn:
    """Takes integers as numbers of buckets.

    What differs here: in a compiled step, a number that is too large has embeddings and weights that are NaN, where
    TensorFlow raises an error on CPUs.

    Args:
        key: of the feature, `[batch]` or `[batch, size]`; -1 is a missing value.
        num_buckets: the numbers are from 0 to `num_buckets - 1`.
        default_value: the bucket of other numbers; None for none.

    Raises:
        ValueError: there are no buckets; or `default_value` is none of them.

    Source: `tf.feature_column.categorical_column_with_identity`.
    """
    if num_buckets < 1:
        raise ValueError(f"num_buckets {num_buckets} < 1, column_name {key}")
    if default_value is not None and not 0 <= default_value < num_buckets:
        raise ValueError(
            f"default_value {default_value} not in range [0, {num_buckets}), column_name {key}"
        )
    check_key(key)
    return IdentityCategoricalColumn(key, int(num_buckets), default_value)


class _OfVocabulary(_OfFeature):
    """A column with a bucket for each word of a vocabulary, and some for others."""

    num_oov_buckets: int
    default_value: int

    @property
    @abc.abstractmethod
    def _words(self) -> tuple[Any, ...]: ...

    @functools.cached_property
    def _table(self) -> TextTable | IntegerTable:
        return (IntegerTable if self.dtype.is_integer else TextTable)(self._words)

    @property
    def num_buckets(self) -> int:
        """One for each word, and those for other words."""
        return len(self._words) + self.num_oov_buckets

    def _buckets(self, values: Any) -> jax.Array:
        found: jax.Array = self._table.find(values)
        other: Any = self.default_value
        if self.num_oov_buckets:
            other = len(self._words) + _hashed(values, self.num_oov_buckets)
        return jnp.where(found < 0, other, found)


def _check_vocabulary(key: str, default_value: int, num_oov_buckets: int) -> None:
    check_key(key)
    if num_oov_buckets and default_value != -1:
        raise ValueError(f"Can't specify both num_oov_buckets and default_value in {key}.")
    if num_oov_buckets < 0:
        raise ValueError(f"Invalid num_oov_buckets {num_oov_buckets} in {key}.")


@dataclasses.dataclass(frozen=True)
class VocabularyListCategoricalColumn(_OfVocabulary):
    """See `categorical_column_with_vocabulary_list`."""

    key: str
    vocabulary_list: tuple[Any, ...]
    dtype: DType
    default_value: int
    num_oov_buckets: int

    @property
    def _words(self) -> tuple[Any, ...]:
        return self.vocabulary_list


def categorical_column_with_vocabulary_list(
    key: str,
    vocabulary_list: Sequence[Any],
    dtype: DTypeLike = None,
    default_value: int = -1,
    num_oov_buckets: int = 0,
) -> VocabularyListCategoricalColumn:
    """Gives texts or integers the numbers that they have in a list.

    Args:
        key: of the feature, `[batch]` or `[batch, size]`; empty texts and -1 are missing values.
        vocabulary_list: texts or integers.
        dtype: of the feature; None takes that of the list.
        default_value: the number of others; -1 for none, so that they are left out.
        num_oov_buckets: how many buckets others are given to, by their hash values.

    Raises:
        ValueError: the list is empty or has something twice; it holds neither texts nor integers; or the arguments exclude
            each other.

    Source: `tf.feature_column.categorical_column_with_vocabulary_list`.
    """
    if vocabulary_list is None or len(vocabulary_list) < 1:
        raise ValueError(f"vocabulary_list {vocabulary_list} must be non-empty, column_name: {key}")
    words = np.asarray(vocabulary_list)
    if words.dtype.kind == "S":
        words = np.char.decode(words)
    if len(set(words.tolist())) != len(words):
        raise ValueError(
            f"Duplicate keys in vocabulary_list {list(vocabulary_list)}, column_name: {key}"
        )
    _check_vocabulary(key, default_value, num_oov_buckets)
    given = _text_or_integer(
        key, "string" if words.dtype.kind in "OU" else words.dtype, " vocabulary"
    )
    of = given if dtype is None else _text_or_integer(key, dtype)
    if of.is_integer != given.is_integer:
        raise ValueError(
            f"dtype {of} and vocabulary dtype {given} do not match, column_name: {key}. Leave dtype out."
        )
    return VocabularyListCategoricalColumn(
        key, tuple(words.tolist()), of, default_value, num_oov_buckets
    )


@dataclasses.dataclass(frozen=True)
class VocabularyFileCategoricalColumn(_OfVocabulary):
    """See `categorical_column_with_vocabulary_file`."""

    key: str
    vocabulary_file: str
    vocabulary_size: int
    num_oov_buckets: int
    dtype: DType
    default_value: int

    @functools.cached_property
    def _words(self) -> tuple[Any, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        words = _lines(self.vocabulary_file)[: self.vocabulary_size]
        if len(words) < self.vocabulary_size:
            raise ValueError(
                f"vocabulary_size of {self.key} is {self.vocabulary_size}, but {self.vocabulary_file} has {len(words)} lines. "
                "Leave vocabulary_size out to take them all."
            )
        return tuple(map(int, words)) if self.dtype.is_integer else tuple(words)


def _lines(path: str) -> list[str]:
    with gfile.GFile(path, "rb") as file:
        lines = file.read().decode().split("\n")
    # The last line may end as the others do.
    return [line.removesuffix("\r") for line in (lines if lines[-1] else lines[:-1])]


def categorical_column_with_vocabulary_file(
    key: str,
    vocabulary_file: str,
    vocabulary_size: int | None = None,
    dtype: DTypeLike = "string",
    default_value: int | None = None,
    num_oov_buckets: int = 0,
    file_format: str | None = None,
) -> VocabularyFileCategoricalColumn:
    """Gives texts or integers the numbers of their lines in a file.

    Args:
        key: of the feature, `[batch]` or `[batch, size]`; empty texts and -1 are missing values.
        vocabulary_file: path of a file with one text or integer in each line.
        vocabulary_size: how many lines to take, from the first on; None takes all.
        dtype: of the feature.
        default_value: as for `categorical_column_with_vocabulary_list`.
        num_oov_buckets: likewise.
        file_format: None, or `"text"`.

    Raises:
        ValueError: the file does not exist, or is to be in another format; or the arguments exclude each other.

    Source: `tf.feature_column.categorical_column_with_vocabulary_file`.
    """
    if not vocabulary_file:
        raise ValueError(f"Missing vocabulary_file in {key}.")
    if file_format not in (None, "text"):
        raise ValueError(
            f"file_format={file_format!r} is not supported in {key}. Write the vocabulary to a file with one word in each line."
        )
    path = str(vocabulary_file)
    if vocabulary_size is None:
        if not gfile.exists(path):
            raise ValueError(f"vocabulary_file in {key} does not exist.")
        vocabulary_size = len(_lines(path))
    if vocabulary_size < 1:
        raise ValueError(f"Invalid vocabulary_size in {key}.")
    default = -1 if default_value is None else default_value
    _check_vocabulary(key, default, num_oov_buckets)
    of = _text_or_integer(key, dtype)
    return VocabularyFileCategoricalColumn(key, path, vocabulary_size, num_oov_buckets, of, default)
