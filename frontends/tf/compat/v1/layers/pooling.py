"""Pooling along one, two or three axes: `MaxPooling2D` and its kin."""

from collections.abc import Callable
from typing import Any

from frontends.tf.compat.v1.layers.arguments import axes_of, padding_of, sizes_of
from frontends.tf.compat.v1.layers.base import Layer
from frontends.tf.compat.v1.layers.functional import functional
from frontends.tf.compat.v1.layers.input_spec import InputSpec
from frontends.tf.ops import windows


class _Pooling(Layer):
    """Makes one number of each window.

    Attributes:
        rank: number of spatial axes.
        pool_size: of the window.
        strides: how far it moves.
        padding: `"SAME"` or `"VALID"`.
        data_format: `"channels_last"` or `"channels_first"`.
    """

    rank: int
    _pool: Callable[..., Any]

    def __init__(
        self,
        pool_size: Any,
        strides: Any,
        padding: str = "valid",
        data_format: str = "channels_last",
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        """Makes the layer.

        Args:
            pool_size: of the window: a number, or one for each spatial axis.
            strides: likewise.
            padding: `"valid"` or `"same"`; what is padded does not count.
            data_format: `"channels_last"` or `"channels_first"`.
            name: see `Layer`.
            **kwargs: for `Layer`.

        Raises:
            ValueError: one of these is something else.
        """
        super().__init__(name=name, **kwargs)
        self.pool_size = sizes_of(pool_size, self.rank, "pool_size")
        self.strides = sizes_of(strides, self.rank, "strides")
        self.padding = padding_of(padding)
        self.data_format = data_format
        self._axes = axes_of(data_format, self.rank)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def call(self, inputs: Any) -> Any:
        """Pools the input."""
        return type(self)._pool(inputs, self.pool_size, self.strides, self.padding, self._axes)


class MaxPooling1D(_Pooling):
    """Takes the largest number of each window along one axis.

    Source: `tf.compat.v1.layers.MaxPooling1D`.
    """

    rank, _pool = 1, windows.max_pool


class MaxPooling2D(_Pooling):
    """Takes the largest number of each window along two axes.

    Source: `tf.compat.v1.layers.MaxPooling2D`.
    """

    rank, _pool = 2, windows.max_pool


class MaxPooling3D(_Pooling):
    """Takes the largest number of each window along three axes.

    Source: `tf.compat.v1.layers.MaxPooling3D`.
    """

    rank, _pool = 3, windows.max_pool


class AveragePooling1D(_Pooling):
    """Takes the mean of each window along one axis.

    Source: `tf.compat.v1.layers.AveragePooling1D`.
    """

    rank, _pool = 1, windows.avg_pool


class AveragePooling2D(_Pooling):
    """Takes the mean of each window along two axes.

    Source: `tf.compat.v1.layers.AveragePooling2D`.
    """

    rank, _pool = 2, windows.avg_pool


class AveragePooling3D(_Pooling):
    """Takes the mean of each window along three axes.

    Source: `tf.compat.v1.layers.AveragePooling3D`.
    """

    rank, _pool = 3, windows.avg_pool


max_pooling1d = functional(MaxPooling1D, __name__, "max_pooling1d", reuse=False)
max_pooling2d = functional(MaxPooling2D, __name__, "max_pooling2d", reuse=False)
max_pooling3d = functional(MaxPooling3D, __name__, "max_pooling3d", reuse=False)
average_pooling1d = functional(AveragePooling1D, __name__, "average_pooling1d", reuse=False)
average_pooling2d = functional(AveragePooling2D, __name__, "average_pooling2d", reuse=False)
average_pooling3d = functional(AveragePooling3D, __name__, "average_pooling3d", reuse=False)
