"""The input of a network, of columns."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from frontends.tf._typing import ShapeLike
from frontends.tf.compat.v1.collections import GraphKeys, get_collection_ref
from frontends.tf.compat.v1.variable_scopes import get_variable, variable_scope
from frontends.tf.feature_column import (
    EmbeddingColumn,
    FeatureColumn,
    Features,
    dense_columns,
)
from frontends.tf.variable import Variable


def input_layer(
    features: Mapping[str, Any],
    feature_columns: Any,
    weight_collections: Iterable[str] | None = None,
    trainable: bool = True,
    cols_to_vars: dict[Any, Any] | None = None,
    cols_to_output_tensors: dict[Any, Any] | None = None,
) -> jax.Array:
    """Joins what columns give, in the order of their names.

    Args:
        features: of a batch, by key.
        feature_columns: a dense column, or several.
        weight_collections: to add the variables to, besides `GLOBAL_VARIABLES` and `MODEL_VARIABLES`.
        trainable: whether optimizers train them.
        cols_to_vars: is filled with the list of variables of each column.
        cols_to_output_tensors: is filled with what each column gives.

    Returns:
        `[batch, size]`, float32.

    Raises:
        ValueError: a column is categorical only, or its feature does not fit.

    Source: `tf.compat.v1.feature_column.input_layer`.
    """
    columns, found, outputs = dense_columns(feature_columns), Features(features), []
    with variable_scope(None, "input_layer"):
        for column in columns:
            variables = ScopeVariables(weight_collections, trainable)
            with variable_scope(None, column.scope_name):
                outputs.append(column.flat(found, variables))
            if cols_to_vars is not None:
                cols_to_vars[column] = variables.made
            if cols_to_output_tensors is not None:
                cols_to_output_tensors[column] = outputs[-1]
    check_batch_sizes(outputs, columns)
    return jnp.concatenate(outputs, 1)


class ScopeVariables:
    """Makes the variables of columns, or finds them, in the scope around the call.

    Attributes:
        made: the variables so far.
    """

    def __init__(self, weight_collections: Iterable[str] | None, trainable: bool) -> None:
        """Says what holds for them.

        Args:
            weight_collections: see `input_layer`.
            trainable: whether optimizers train them.
        """
        default = GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES
        self._collections = list(dict.fromkeys([*(weight_collections or ()), *default]))
        self._trainable = trainable
        self.made: list[Variable] = []

    def get(
        self, name: str, shape: ShapeLike, initializer: Callable[..., Any], trainable: bool = True
    ) -> Variable:
        """Returns the variable of a name."""
        trainable = trainable and self._trainable
        variable = get_variable(
            *(name, shape, jnp.float32, initializer),
            trainable=trainable,
            collections=self._collections,
        )
        self.made.append(variable)
        return variable

    def __call__(
        self,
        column: FeatureColumn,
        name: str,
        shape: ShapeLike,
        initializer: Callable[..., Any],
        trainable: bool,
    ) -> Variable:
        """Returns a column's variable, which it may share."""
        shared = column.shared_name if isinstance(column, EmbeddingColumn) else None
        if shared is None:
            return self.get(name, shape, initializer, trainable)
        # As in TensorFlow, the first of the columns makes the variable in its scope.
        known = get_collection_ref(shared)
        if known:
            self.made.append(known[0])
        else:
            known.append(self.get(name, shape, initializer, trainable))
        return known[0]


def check_batch_sizes(outputs: Sequence[jax.Array], columns: Sequence[FeatureColumn]) -> None:
    """Checks that all columns give as many rows.

    Raises:
        ValueError: they do not.
    """
    # Not len(), which takes no size that the caller of an exported program chooses.
    sizes = {column.name: rows.shape[0] for column, rows in zip(columns, outputs, strict=True)}
    if len(set(sizes.values())) > 1:
        raise ValueError(
            f"Batch size (first dimension) of each feature must be same. Batch size of columns: {sizes}."
        )
