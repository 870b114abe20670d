"""Buckets as numbers: how often a row is in each."""

import dataclasses
import functools

import jax
import jax.numpy as jnp

from frontends.tf.feature_column.column import (
    CategoricalColumn,
    DenseColumn,
    Features,
    MakeVariable,
)
from frontends.tf.feature_column.parsing import ParseSpec
from frontends.tf.tensor_shape import TensorShape


@dataclasses.dataclass(frozen=True)
class IndicatorColumn(DenseColumn):
    """See `indicator_column`."""

    categorical_column: CategoricalColumn

    @property
    def name(self) -> str:
        """The column's, with `_indicator`."""
        return f"{self.categorical_column.name}_indicator"

    @property
    def parse_example_spec(self) -> ParseSpec:
        """That of the column."""
        return self.categorical_column.parse_example_spec

    @property
    def variable_shape(self) -> TensorShape:
        """A place for each bucket."""
        return TensorShape((1, self.categorical_column.num_buckets))

    def dense(self, features: Features, make_variable: MakeVariable | None = None) -> jax.Array:
        """Returns how often each row is in each bucket, or the sum of its weights there."""
        ids = self.categorical_column.ids(features)
        return _counted(ids.values, ids.valid, ids.weights, self.categorical_column.num_buckets)


# Traced once for all columns of a shape.
@functools.partial(jax.jit, static_argnums=3)
def _counted(
    values: jax.Array, valid: jax.Array, weights: jax.Array | None, buckets: int
) -> jax.Array:
    hot = jax.nn.one_hot(jnp.where(valid, values, -1), buckets)
    if weights is not None:
        hot = hot * jnp.where(valid, weights, 0)[..., None]
    return hot.sum(-2)


def indicator_column(categorical_column: CategoricalColumn) -> IndicatorColumn:
    """Gives a model the buckets of a column as numbers: how often a row is in each of them.

    Args:
        categorical_column: the column; of one with weights, their sums are given.

    Raises:
        ValueError: it is not categorical.

    Source: `tf.feature_column.indicator_column`.
    """
    if not isinstance(categorical_column, CategoricalColumn):
        raise ValueError(
            f"Unsupported input type. Input must be a CategoricalColumn. Given: {categorical_column}"
        )
    return IndicatorColumn(categorical_column)
