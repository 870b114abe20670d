"""Numbers: as they are, and by the interval that they are in."""

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf import nest
from frontends.tf._typing import DTypeLike
from frontends.tf.dtypes import DType, as_dtype
from frontends.tf.feature_column.column import (
    CategoricalColumn,
    DenseColumn,
    Features,
    Ids,
    MakeVariable,
    check_key,
)
from frontends.tf.feature_column.parsing import FixedLenFeature, ParseSpec
from frontends.tf.feature_column.texts import Texts
from frontends.tf.tensor_shape import TensorShape


@dataclasses.dataclass(frozen=True)
class NumericColumn(DenseColumn):
    """See `numeric_column`."""

    key: str
    shape: tuple[int, ...]
    default_value: Any
    dtype: DType
    normalizer_fn: Callable[[Any], Any] | None

    @property
    def name(self) -> str:
        """The key."""
        return self.key

    @property
    def parse_example_spec(self) -> ParseSpec:
        """A feature of its shape."""
        return {self.key: FixedLenFeature(self.shape, self.dtype, self.default_value)}

    @property
    def variable_shape(self) -> TensorShape:
        """Its shape."""
        return TensorShape(self.shape)

    def dense(self, features: Features, make_variable: MakeVariable | None = None) -> jax.Array:
        """Returns the feature."""
        found = features.get(self.key)
        if isinstance(found, Texts):
            raise ValueError(
                f"numeric_column({self.key!r}) got texts, but expected numbers. Use a categorical column, such as "
                f"categorical_column_with_hash_bucket({self.key!r}, hash_bucket_size)."
            )
        if self.normalizer_fn is not None:
            found = jnp.asarray(self.normalizer_fn(found))
        return found.astype(jnp.float32)


def numeric_column(
    key: str,
    shape: Sequence[int] | int = (1,),
    default_value: Any = None,
    dtype: DTypeLike = jnp.float32,
    normalizer_fn: Callable[[Any], Any] | None = None,
) -> NumericColumn:
    """Gives a model a feature of numbers.

    Args:
        key: of the feature.
        shape: of an example's feature.
        default_value: for examples that are parsed and have none.
        dtype: of the feature; the column gives float32.
        normalizer_fn: is given the feature, `[batch, *shape]`, before it becomes float32.

    Raises:
        TypeError: `default_value` does not fit the dtype, `normalizer_fn` is no function, or sizes are no integers.
        ValueError: a size is not positive, `default_value` has another shape, or the dtype is no number's.

    Source: `tf.feature_column.numeric_column`.
    """
    check_key(key)
    sizes = (shape,) if isinstance(shape, int | np.integer) else tuple(shape)
    if not all(isinstance(size, int | np.integer) for size in sizes):
        raise TypeError(f"shape dimensions must be integer. shape: {shape}, key: {key}")
    if any(size < 1 for size in sizes):
        raise ValueError(f"shape dimensions must be greater than 0. shape: {sizes}, key: {key}")
    of = as_dtype(dtype)
    if not (of.is_integer or of.is_floating):
        raise ValueError(f"dtype must be convertible to float. dtype: {of}, key: {key}")
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise TypeError(f"normalizer_fn must be a callable. Given: {normalizer_fn}")
    default = _default(default_value, sizes, of, key)
    return NumericColumn(key, sizes, default, of, normalizer_fn)


def _default(value: Any, shape: tuple[int, ...], dtype: DType, key: str) -> Any:
    """Returns a default value as nested tuples of the column's shape."""
    if value is None:
        return None
    array = np.asarray(value)
    if array.dtype.kind not in "iuf" or (array.dtype.kind == "f" and not dtype.is_floating):
        raise TypeError(
            f"default_value must be compatible with dtype. default_value: {value}, dtype: {dtype}, key: {key}"
        )
    if array.ndim and array.shape != shape:
        raise ValueError(
            "The shape of default_value must be equal to given shape. "
            f"default_value: {value}, shape: {shape}, key: {key}"
        )
    return _tuples(np.broadcast_to(array, shape).tolist())


def _tuples(values: Any) -> Any:
    return tuple(map(_tuples, values)) if nest.is_nested(values) else values


@dataclasses.dataclass(frozen=True)
class BucketizedColumn(DenseColumn, CategoricalColumn):
    """See `bucketized_column`."""

    source_column: NumericColumn
    boundaries: tuple[float, ...]

    @property
    def name(self) -> str:
        """The numeric column's, with `_bucketized`."""
        return f"{self.source_column.name}_bucketized"

    @property
    def parse_example_spec(self) -> ParseSpec:
        """That of the numeric column."""
        return self.source_column.parse_example_spec

    @property
    def variable_shape(self) -> TensorShape:
        """A place for each interval, for each number."""
        return TensorShape((*self.source_column.shape, self._intervals))

    @property
    def num_buckets(self) -> int:
        """How many intervals there are, for all numbers of the feature."""
        return self._intervals * self.source_column.shape[0]

    @property
    def _intervals(self) -> int:
        return len(self.boundaries) + 1

    def _found(self, features: Features) -> jax.Array:
        values = self.source_column.dense(features)
        boundaries = jnp.asarray(self.boundaries, jnp.float32)
        return jnp.searchsorted(boundaries, values, side="right").astype(jnp.int32)

    def dense(self, features: Features, make_variable: MakeVariable) -> jax.Array:
        """Returns a one for the interval of each number."""
        return jax.nn.one_hot(self._found(features), self._intervals)

    def ids(self, features: Features) -> Ids:
        """Returns the intervals; those of the second number come after those of the first."""
        found = self._found(features)
        found = found.reshape(found.shape[0], -1)
        values = found + self._intervals * jnp.arange(found.shape[1], dtype=jnp.int32)
        return Ids(values, jnp.ones(values.shape, bool))


def bucketized_column(
    source_column: NumericColumn, boundaries: Sequence[float]
) -> BucketizedColumn:
    """Gives a model the intervals that numbers are in.

    Args:
        source_column: of the numbers, with one axis at most.
        boundaries: sorted; an interval has its lower boundary, and not its upper one.

    Raises:
        ValueError: the column is no numeric one or has several axes, or the boundaries are not sorted.

    Source: `tf.feature_column.bucketized_column`.
    """
    if not isinstance(source_column, NumericColumn):
        raise ValueError(
            "source_column must be a column generated with numeric_column(). "
            f"Given: {source_column}"
        )
    if len(source_column.shape) != 1:
        raise ValueError(f"source_column must be one-dimensional column. Given: {source_column}")
    if not isinstance(boundaries, list | tuple | np.ndarray):
        raise ValueError(f"boundaries must be a sorted list. Given: {boundaries!r}")
    limits = tuple(float(one) for one in boundaries)
    if not limits:
        raise ValueError("boundaries must not be empty.")
    if any(first >= second for first, second in itertools.pairwise(limits)):
        raise ValueError(f"boundaries must be a sorted list. Given: {list(boundaries)}")
    return BucketizedColumn(source_column, limits)
