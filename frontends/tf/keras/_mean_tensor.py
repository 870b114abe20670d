"""`tf.keras.metrics.MeanTensor`, which Keras 3 dropped."""

from typing import Any

import jax.numpy as jnp
import keras

from frontends.tf._typing import DTypeLike, TensorLike


class MeanTensor(keras.metrics.Metric):
    """Averages tensors element by element over the updates, those of all replicas.

    Examples:
        >>> from frontends import tf
        >>> mean = tf.keras.metrics.MeanTensor()
        >>> mean.update_state([0.0, 1.0])
        >>> mean.update_state([4.0, 9.0], sample_weight=[1.0, 3.0])
        >>> mean.result().tolist()
        [2.0, 7.0]

    Source: `tf.keras.metrics.MeanTensor` of Keras 2.
    """

    def __init__(
        self,
        name: str = "mean_tensor",
        dtype: DTypeLike = None,
        shape: tuple[int, ...] | list[int] | None = None,
    ) -> None:
        """Makes the metric.

        Args:
            name: its name.
            dtype: the dtype of its result.
            shape: the shape of the tensors; None for that of the first.
        """
        super().__init__(name=name, dtype=dtype)
        self.total: Any = None
        self.count: Any = None
        if shape is not None:
            self._sums(tuple(shape))

    def _sums(self, shape: tuple[int, ...]) -> tuple[Any, Any]:
        if self.total is None:
            self.total = self.add_variable(shape, initializer="zeros", name="total")
            self.count = self.add_variable(shape, initializer="zeros", name="count")
        return self.total, self.count

    def update_state(self, values: TensorLike, sample_weight: TensorLike = None) -> None:
        """Adds a tensor to the averages.

        Args:
            values: the tensor.
            sample_weight: weights of its elements, or of the entries of its first axes.

        Raises:
            ValueError: an earlier tensor had another shape.
        """
        values = jnp.asarray(values, self.dtype)
        total, count = self._sums(values.shape)
        if values.shape != tuple(total.shape):
            raise ValueError(
                f"MeanTensor got a tensor of shape {values.shape}, but the first one, or the argument "
                f"shape, had {tuple(total.shape)}. It averages tensors of one shape: make another "
                "MeanTensor for these."
            )
        weight = jnp.asarray(1.0 if sample_weight is None else sample_weight, self.dtype)
        weight = weight.reshape(weight.shape + (1,) * (values.ndim - weight.ndim))
        total.assign(total + values * weight)
        count.assign(count + jnp.broadcast_to(weight, values.shape))

    def result(self) -> Any:
        """Returns the averages; zero where nothing was counted.

        Raises:
            ValueError: there was no tensor yet, so the shape is unknown.
        """
        if self.total is None:
            raise ValueError(
                "MeanTensor has no value yet. Call update_state(tensor) first, or make it with "
                "MeanTensor(shape=...) to start from zeros."
            )
        return keras.ops.divide_no_nan(self.total, self.count)
