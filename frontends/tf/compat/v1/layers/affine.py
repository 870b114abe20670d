"""What layers share that multiply their input with weights: a bias, and an activation."""

from typing import Any, NamedTuple

from frontends.tf._typing import ShapeLike
from frontends.tf.compat.v1.initializers import Zeros
from frontends.tf.compat.v1.layers.base import Layer
from frontends.tf.compat.v1.layers.lookup import activation_of
from frontends.tf.ops import nn

ZEROS = Zeros()


class Weight(NamedTuple):
    """How a variable of a layer starts and what holds for it; see `Layer.add_weight`."""

    initializer: Any
    regularizer: Any
    constraint: Any


class AffineLayer(Layer):
    """A layer with `activation(f(x, weights) + bias)`.

    Attributes:
        activation: a function of the output, or None.
        use_bias: whether there is a bias.
        bias: shape `[channels of the output]`; None without one, and before the first call.
    """

    def __init__(
        self,
        activation: Any,
        bias: Weight | None,
        activity_regularizer: Any,
        trainable: bool,
        name: str | None,
        **kwargs: Any,
    ) -> None:
        """Makes the layer.

        Args:
            activation: a function or its name; None leaves the output as it is.
            bias: of the bias; None for none.
            activity_regularizer: see `Layer`.
            trainable: see `Layer`.
            name: see `Layer`.
            **kwargs: for `Layer`.
        """
        super().__init__(trainable, name, activity_regularizer=activity_regularizer, **kwargs)
        self.activation = activation_of(activation)
        self.use_bias = bias is not None
        self.bias: Any = None
        self._bias = bias

    def _add(self, name: str, shape: ShapeLike, weight: Weight) -> Any:
        return self.add_weight(
            name,
            shape,
            initializer=weight.initializer,
            regularizer=weight.regularizer,
            constraint=weight.constraint,
        )

    def _add_bias(self, size: int) -> None:
        if self._bias is not None:
            self.bias = self._add("bias", [size], self._bias)

    def _finished(self, outputs: Any, axes: str | None = None) -> Any:
        """Adds the bias to the channels, which the names of the axes tell, and applies the activation."""
        if self.use_bias:
            outputs = nn.bias_add(outputs, self.bias, axes)
        return outputs if self.activation is None else self.activation(outputs)
