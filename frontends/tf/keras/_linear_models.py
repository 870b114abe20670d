"""`tf.keras.experimental.LinearModel` and `WideDeepModel`, which Keras 3 dropped."""

from collections.abc import Mapping
from typing import Any

import keras

from frontends.tf import nest
from frontends.tf._typing import Nested


@keras.saving.register_keras_serializable("jaxtribute")
class LinearModel(keras.Model):
    """A linear function of one input, or of several together.

    Args:
        units: how many numbers it gives.
        activation: a function of the result, or its name.
        use_bias: whether to add a bias.
        kernel_initializer: of the weights, zeros by default.
        bias_initializer: of the bias.
        kernel_regularizer: adds a loss of the weights.
        bias_regularizer: adds a loss of the bias.

    Examples:
        >>> from frontends import tf
        >>> model = tf.keras.experimental.LinearModel()
        >>> model.compile("sgd", "mse")
        >>> model(tf.ones([2, 3])).tolist()
        [[0.0], [0.0]]

    Source: `tf.keras.experimental.LinearModel`.
    """

    def __init__(
        self,
        units: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "zeros",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        **kwargs: Any,
    ) -> None:
        """Makes the model; the other arguments are those of `keras.Model`."""
        super().__init__(**kwargs)
        self.units, self.use_bias = units, use_bias
        self.activation = keras.activations.get(activation)
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.bias_initializer = keras.initializers.get(bias_initializer)
        self.kernel_regularizer = keras.regularizers.get(kernel_regularizer)
        self.bias_regularizer = keras.regularizers.get(bias_regularizer)
        self.dense_layers: list[keras.layers.Dense] = []

    def build(self, input_shape: Nested) -> None:
        """Makes the weights of each input."""
        for shape in _shapes(input_shape):
            layer = keras.layers.Dense(
                self.units,
                use_bias=False,
                kernel_initializer=_copied(self.kernel_initializer),
                kernel_regularizer=self.kernel_regularizer,
            )
            layer.build(shape)
            self.dense_layers.append(layer)
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                shape=(self.units,),
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                name="bias",
            )
        self.built = True

    def call(self, inputs: Nested) -> Any:
        """Adds up what each input gives."""
        parts = nest.flatten(inputs)
        total: Any = 0
        for layer, part in zip(self.dense_layers, parts, strict=True):
            total = total + layer(part)
        total = total if self.bias is None else total + self.bias
        return self.activation(total)

    def get_config(self) -> dict[str, Any]:
        """Returns what `from_config` makes the model of."""
        return {
            "units": self.units,
            "activation": keras.activations.serialize(self.activation),
            "use_bias": self.use_bias,
            "kernel_initializer": keras.initializers.serialize(self.kernel_initializer),
            "bias_initializer": keras.initializers.serialize(self.bias_initializer),
            "kernel_regularizer": keras.regularizers.serialize(self.kernel_regularizer),
            "bias_regularizer": keras.regularizers.serialize(self.bias_regularizer),
            "name": self.name,
        }


def _copied(initializer: Any) -> Any:
    """Makes another one like it: one that draws gives each input other weights."""
    if not hasattr(initializer, "get_config"):
        return initializer
    return type(initializer).from_config(initializer.get_config())


def _shapes(shape: Nested) -> list[Any]:
    if isinstance(shape, Mapping):
        return [each for key in sorted(shape) for each in _shapes(shape[key])]
    if all(isinstance(size, int) or size is None for size in shape):
        return [tuple(shape)]
    return [one for each in shape for one in _shapes(each)]


@keras.saving.register_keras_serializable("jaxtribute")
class WideDeepModel(keras.Model):
    """The sum of a linear model and a deep one.

    What differs here: one optimizer trains both; TensorFlow takes a list of two.

    Args:
        linear_model: a `LinearModel`.
        dnn_model: any model with a result of its shape.
        activation: a function of the sum, or its name.

    Source: `tf.keras.experimental.WideDeepModel`.
    """

    def __init__(
        self, linear_model: Any, dnn_model: Any, activation: Any = None, **kwargs: Any
    ) -> None:
        """Joins the models; the other arguments are those of `keras.Model`."""
        super().__init__(**kwargs)
        self.linear_model, self.dnn_model = linear_model, dnn_model
        self.activation = keras.activations.get(activation)

    def compile(self, optimizer: Any = "rmsprop", *args: Any, **kwargs: Any) -> None:
        """As `keras.Model.compile`.

        Raises:
            ValueError: there are two optimizers.
        """
        if isinstance(optimizer, list | tuple):
            if len(optimizer) != 1:
                raise ValueError(
                    f"WideDeepModel: expected one optimizer for both models, got {len(optimizer)}. Write "
                    "model.compile(optimizer[0], ...)."
                )
            optimizer = optimizer[0]
        super().compile(optimizer, *args, **kwargs)

    def call(self, inputs: Nested, training: bool | None = None) -> Any:
        """Adds the results; a pair of inputs is one for each model."""
        if isinstance(inputs, list | tuple) and len(inputs) == 2:
            linear_input, deep_input = inputs
        else:
            linear_input = deep_input = inputs
        deep = self.dnn_model(deep_input, training=training)
        return self.activation(self.linear_model(linear_input) + deep)

    def get_config(self) -> dict[str, Any]:
        """Returns what `from_config` makes the model of."""
        return {
            "linear_model": keras.saving.serialize_keras_object(self.linear_model),
            "dnn_model": keras.saving.serialize_keras_object(self.dnn_model),
            "activation": keras.activations.serialize(self.activation),
            "name": self.name,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> "WideDeepModel":
        """Makes the model of what `get_config` returned."""
        restore = keras.saving.deserialize_keras_object
        parts = {name: restore(config.pop(name)) for name in ("linear_model", "dnn_model")}
        return cls(**parts, **config)
