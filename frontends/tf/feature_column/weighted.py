"""Buckets with weights."""

import dataclasses

import jax.numpy as jnp

from frontends.tf._typing import DTypeLike
from frontends.tf.dtypes import DType, as_dtype
from frontends.tf.feature_column.column import CategoricalColumn, Features, Ids
from frontends.tf.feature_column.parsing import ParseSpec, VarLenFeature
from frontends.tf.feature_column.texts import Texts


@dataclasses.dataclass(frozen=True)
class WeightedCategoricalColumn(CategoricalColumn):
    """See `weighted_categorical_column`."""

    categorical_column: CategoricalColumn
    weight_feature_key: str
    dtype: DType

    @property
    def name(self) -> str:
        """The column's, and the key of the weights."""
        return f"{self.categorical_column.name}_weighted_by_{self.weight_feature_key}"

    @property
    def parse_example_spec(self) -> ParseSpec:
        """What the column needs, and the weights."""
        spec = self.categorical_column.parse_example_spec
        if self.weight_feature_key in spec:
            raise ValueError(
                f"Parse config {spec[self.weight_feature_key]} already exists for {self.weight_feature_key}. Give the weights "
                "another key than the feature."
            )
        return spec | {self.weight_feature_key: VarLenFeature(self.dtype)}

    @property
    def num_buckets(self) -> int:
        """Those of the column."""
        return self.categorical_column.num_buckets

    def ids(self, features: Features) -> Ids:
        """Returns the column's buckets with weights; a weight of zero leaves one out."""
        ids, weights = self.categorical_column.ids(features), features.get(self.weight_feature_key)
        if (
            isinstance(weights, Texts)
            or as_dtype(weights.dtype).is_integer != self.dtype.is_integer
        ):
            raise ValueError(
                f"Bad dtype, expected {self.dtype}, but got {as_dtype(weights.dtype)}, for the feature {self.weight_feature_key}. "
                "Give weighted_categorical_column the feature's dtype."
            )
        if weights.shape != ids.values.shape:
            raise ValueError(
                f"The feature {self.weight_feature_key} has the shape {weights.shape}, but the buckets of "
                f"{self.categorical_column.name}, whose weights it has, {ids.values.shape}. Give each a weight."
            )
        weights = weights.astype(jnp.float32)
        return Ids(ids.values, ids.present & (weights != 0), weights)


def weighted_categorical_column(
    categorical_column: CategoricalColumn,
    weight_feature_key: str,
    dtype: DTypeLike = jnp.float32,
) -> WeightedCategoricalColumn:
    """Gives weights to the buckets of a column.

    What differs here: a bucket whose weight is zero is left out, where TensorFlow raises an error unless its value is missing.

    Args:
        categorical_column: of the buckets.
        weight_feature_key: of a feature with a weight for each value of the column.
        dtype: of the weights.

    Raises:
        ValueError: the dtype is no number's.

    Source: `tf.feature_column.weighted_categorical_column`.
    """
    of = as_dtype(dtype)
    if not (of.is_integer or of.is_floating):
        raise ValueError(f"dtype {of} is not convertible to float.")
    return WeightedCategoricalColumn(categorical_column, weight_feature_key, of)
