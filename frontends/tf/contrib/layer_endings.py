"""What layers of `tf.contrib.layers` end with: biases or a normalizer, and an activation."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import jax

from frontends.tf import nn
from frontends.tf.contrib.layer_variables import (
    Collections,
    Initializer,
    Regularizer,
    layer_variable,
)


@dataclasses.dataclass(frozen=True)
class Ending:
    """What comes after the weights of a layer.

    Attributes:
        activation_fn: None is linear.
        normalizer_fn: in place of biases.
        normalizer_params: its arguments, by name.
        biases_initializer: None leaves biases out.
        biases_regularizer: their penalty.
        trainable: whether optimizers change the biases.
        variables_collections: see `layer_variable`.
    """

    activation_fn: Callable[..., Any] | None
    normalizer_fn: Callable[..., Any] | None
    normalizer_params: Mapping[str, Any] | None
    biases_initializer: Initializer
    biases_regularizer: Regularizer
    trainable: bool
    variables_collections: Collections

    def of(self, outputs: jax.Array, data_format: str) -> Any:
        """Makes what the layer gives.

        Args:
            outputs: what its weights give.
            data_format: `"NHWC"` or `"NCHW"`.
        """
        if self.normalizer_fn is not None:
            outputs = self.normalizer_fn(outputs, **(self.normalizer_params or {}))
        elif self.biases_initializer is not None:
            biases = layer_variable(
                "biases",
                [outputs.shape[data_format.index("C")]],
                outputs.dtype,
                self.biases_initializer,
                self.biases_regularizer,
                self.trainable,
                self.variables_collections,
            )
            outputs = nn.bias_add(outputs, biases, data_format=data_format)
        return outputs if self.activation_fn is None else self.activation_fn(outputs)
