"""`tf.random_normal_initializer` and `tf.random_uniform_initializer`: Keras's, but each call draws other numbers."""

from typing import Any

import keras

from frontends.tf._typing import DTypeLike, ShapeLike
from frontends.tf.ops.random import normal, uniform


class RandomNormal(keras.initializers.RandomNormal):
    """Draws from a normal distribution: without a seed other numbers in each call.

    Keras's draw the same ones each time, in all layers that share one. Files say Keras's class.

    Source: `tf.random_normal_initializer`.
    """

    def __call__(self, shape: ShapeLike, dtype: DTypeLike = None) -> Any:
        """Draws an array; see `tf.random.normal`.

        Args:
            shape: of the array.
            dtype: of floats; None is float32.
        """
        if self.get_config()["seed"] is not None:
            return keras.initializers.RandomNormal.__call__(self, shape, dtype)
        return normal(shape, self.mean, self.stddev, dtype or "float32")

    __class__: Any = property(lambda self: keras.initializers.RandomNormal)


class RandomUniform(keras.initializers.RandomUniform):
    """Draws uniformly from an interval: without a seed other numbers in each call.

    Keras's draw the same ones each time, in all layers that share one. Files say Keras's class.

    Source: `tf.random_uniform_initializer`.
    """

    def __call__(self, shape: ShapeLike, dtype: DTypeLike = None) -> Any:
        """Draws an array; see `tf.random.uniform`.

        Args:
            shape: of the array.
            dtype: of numbers; None is float32.
        """
        if self.get_config()["seed"] is not None:
            return keras.initializers.RandomUniform.__call__(self, shape, dtype)
        return uniform(shape, self.minval, self.maxval, dtype or "float32")

    __class__: Any = property(lambda self: keras.initializers.RandomUniform)
