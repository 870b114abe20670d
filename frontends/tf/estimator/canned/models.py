"""What canned estimators compute of features: the logits of a linear model, of a network, and of a bias alone."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from frontends.tf.compat.v1 import summary
from frontends.tf.compat.v1.feature_column import input_layer, linear_model
from frontends.tf.compat.v1.initializers import GlorotUniform, Zeros
from frontends.tf.compat.v1.layers.core import dense, dropout
from frontends.tf.compat.v1.layers.normalization import batch_normalization
from frontends.tf.compat.v1.variable_scopes import get_variable, variable_scope
from frontends.tf.estimator.mode_keys import ModeKeys
from frontends.tf.feature_column import Texts


class Model:
    """Computes logits; its variables are below the scope of the caller.

    Attributes:
        scope: of the variables.
    """

    scope: str

    def logits(self, features: Mapping[str, Any], units: int, mode: str) -> jax.Array:
        """Computes `[rows, units]` of a batch.

        Args:
            features: by key.
            units: how many logits a row has.
            mode: one of `tf.estimator.ModeKeys`.
        """
        raise NotImplementedError


@dataclasses.dataclass(frozen=True)
class LinearModel(Model):
    """Adds up weights of columns.

    Attributes:
        columns: of features.
        sparse_combiner: how a row's weights of a column's buckets are combined: "sum", "mean" or "sqrtn".
    """

    columns: Sequence[Any]
    sparse_combiner: str = "sum"
    scope = "linear"

    def logits(self, features: Mapping[str, Any], units: int, mode: str) -> jax.Array:
        """See `Model`."""
        of: dict[Any, list[Any]] = {}
        found = linear_model(features, self.columns, units, self.sparse_combiner, cols_to_vars=of)
        if mode == ModeKeys.TRAIN:
            (bias,) = of.pop("bias")
            weights = [one.value() for some in of.values() for one in some]
            if units > 1:
                summary.histogram("bias", bias.value())
            else:
                summary.scalar("bias", bias.value()[0])
            zeros = sum(jnp.sum(one == 0) for one in weights)
            summary.scalar("fraction_of_zero_weights", zeros / sum(one.size for one in weights))
        return found


@dataclasses.dataclass(frozen=True)
class Network(Model):
    """Layers of dense columns.

    Attributes:
        hidden_units: sizes of the layers before the logits.
        columns: dense ones, of features.
        activation_fn: of those layers.
        dropout: which fraction of what they give is dropped in training; None for none.
        batch_norm: whether what they give is normalized.
    """

    hidden_units: Sequence[int]
    columns: Sequence[Any]
    activation_fn: Any = jax.nn.relu
    dropout: float | None = None
    batch_norm: bool = False
    scope = "dnn"

    def logits(self, features: Mapping[str, Any], units: int, mode: str) -> jax.Array:
        """See `Model`."""
        is_training = mode == ModeKeys.TRAIN
        with variable_scope("input_from_feature_columns"):
            net = input_layer(features, self.columns)
        for index, size in enumerate(self.hidden_units):
            name = f"hiddenlayer_{index}"
            net = self._dense(net, size, name, self.activation_fn)
            if self.dropout is not None:
                net = dropout(net, self.dropout, training=is_training)
            if self.batch_norm:
                net = batch_normalization(
                    net,
                    momentum=0.999,
                    training=is_training,
                    name=f"{name}/batchnorm_{index}",
                )
            if is_training:
                summarize(net, name)
        found = self._dense(net, units, "logits", None)
        if is_training:
            summarize(found, "logits")
        return found

    def _dense(self, inputs: Any, units: int, name: str, activation: Any) -> Any:
        return dense(
            inputs, units, activation=activation, kernel_initializer=GlorotUniform(), name=name
        )


@dataclasses.dataclass(frozen=True)
class Bias(Model):
    """The same logits for all rows.

    Attributes:
        weight_column: key of the feature that holds weights, of which rows are not counted.
    """

    weight_column: Any = None
    scope = "baseline"

    def logits(self, features: Mapping[str, Any], units: int, mode: str) -> jax.Array:
        """See `Model`.

        Raises:
            ValueError: features have different numbers of rows, or there are none.
        """
        key = getattr(self.weight_column, "key", self.weight_column)
        rows = {name: _rows(one) for name, one in features.items() if name != key}
        if len(set(rows.values())) != 1:
            raise ValueError(
                f"Features must have the same number of rows, at least one feature: {rows}."
            )
        bias = get_variable("bias", [units], initializer=Zeros()).value()
        return jnp.tile(bias, (next(iter(rows.values())), 1))


def _rows(feature: Any) -> int:
    return (feature.shape if isinstance(feature, Texts) else jnp.shape(feature))[0]


def summarize(values: jax.Array, name: str) -> None:
    """Collects what TensorBoard shows of what a layer gives."""
    summary.scalar(f"{name}/fraction_of_zero_values", jnp.mean(values == 0))
    summary.histogram(f"{name}/activation", values)


ActivationFn = Callable[[Any], Any] | str | None
