"""A linear model of columns."""

from collections.abc import Iterable, Mapping
from typing import Any

import jax
import jax.numpy as jnp

from frontends.tf.compat.v1.feature_column.inputs import ScopeVariables, check_batch_sizes
from frontends.tf.compat.v1.variable_scopes import variable_scope
from frontends.tf.feature_column import (
    CategoricalColumn,
    DenseColumn,
    FeatureColumn,
    Features,
    check_combiner,
    combined_rows,
    normalized,
)
from frontends.tf.ops.convert import convert_to_tensor
from frontends.tf.variable import Variable


def linear_model(
    features: Mapping[str, Any],
    feature_columns: Any,
    units: int = 1,
    sparse_combiner: str = "sum",
    weight_collections: Iterable[str] | None = None,
    trainable: bool = True,
    cols_to_vars: dict[Any, Any] | None = None,
) -> jax.Array:
    """Adds up weights: of the buckets of categorical columns, and of the numbers of dense ones; and a bias.

    Args:
        features: of a batch, by key.
        feature_columns: a column, or several, of any kind.
        units: how many results a row has.
        sparse_combiner: "mean", "sqrtn" or "sum" of the weights of a row that is in several buckets of a column.
        weight_collections: to add the variables to, besides `GLOBAL_VARIABLES` and `MODEL_VARIABLES`.
        trainable: whether optimizers train them.
        cols_to_vars: is filled with the list of variables of each column, and that of `"bias"`.

    Returns:
        `[batch, units]`, float32.

    Raises:
        ValueError: a column's feature does not fit.

    Source: `tf.compat.v1.feature_column.linear_model`.
    """
    check_combiner(sparse_combiner)
    columns, found = normalized(feature_columns), Features(features)
    sums: list[jax.Array] = []
    of: dict[Any, list[Variable]] = {}
    with variable_scope(None, "linear_model"):
        for column in columns:
            variables = ScopeVariables(weight_collections, trainable)
            with variable_scope(None, getattr(column, "scope_name", column.name)):
                sums.append(_weighted_sum(column, found, units, sparse_combiner, variables))
            of[column] = variables.made
        check_batch_sizes(sums, columns)
        variables = ScopeVariables(weight_collections, trainable)
        bias = variables.get("bias_weights", [units], jnp.zeros)
    if cols_to_vars is not None:
        cols_to_vars.update({**of, "bias": variables.made})
    return sum(sums[1:], sums[0]) + convert_to_tensor(bias)


def _weighted_sum(
    column: FeatureColumn,
    features: Features,
    units: int,
    combiner: str,
    variables: ScopeVariables,
) -> jax.Array:
    if isinstance(column, CategoricalColumn):
        weights = variables.get("weights", [column.num_buckets, units], jnp.zeros)
        return combined_rows(weights, column.ids(features).flat(), combiner)
    assert isinstance(column, DenseColumn)  # there is no third kind
    weights = variables.get("weights", [column.size, units], jnp.zeros)
    return column.flat(features, variables) @ convert_to_tensor(weights)
