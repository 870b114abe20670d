"""Convolutions along one, two or three axes: `Conv2D` and its kin."""

from typing import Any

import jax.numpy as jnp

from frontends.tf.compat.v1.layers.affine import ZEROS, AffineLayer, Weight
from frontends.tf.compat.v1.layers.arguments import axes_of, padding_of, sizes_of
from frontends.tf.compat.v1.layers.functional import functional
from frontends.tf.compat.v1.layers.input_spec import InputSpec
from frontends.tf.ops import windows
from frontends.tf.ops.convert import convert_to_tensor


class _Window(AffineLayer):
    """A window over the spatial axes of the input.

    Attributes:
        rank: number of these axes.
        filters: number of channels of the output.
        kernel_size: of the window.
        strides: how far it moves.
        padding: `"SAME"` or `"VALID"`.
        data_format: `"channels_last"` or `"channels_first"`.
    """

    rank: int

    def _slide(
        self, filters: int, kernel_size: Any, strides: Any, padding: str, data_format: str
    ) -> None:
        """Reads what the constructors of all convolutions take."""
        self.filters = int(filters)
        self.kernel_size = sizes_of(kernel_size, self.rank, "kernel_size")
        self.strides = sizes_of(strides, self.rank, "strides")
        self.padding = padding_of(padding)
        self.data_format = data_format
        self._axes = axes_of(data_format, self.rank)
        self.input_spec = InputSpec(ndim=self.rank + 2, floating=True)

    def _channels(self, input_shape: Any) -> int:
        """Reads the number of channels, which later inputs must have too."""
        axis = self._axes.index("C")
        size = input_shape[axis]
        self.input_spec = InputSpec(ndim=self.rank + 2, axes={axis: size}, floating=True)
        return size


class _Convolution(_Window):
    """Convolves with a kernel of shape `[*kernel_size, channels, filters]`.

    Attributes:
        kernel: the weights; None before the first call.
        dilation_rate: distances between the elements of a window.
    """

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str = "channels_last",
        dilation_rate: Any = 1,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = None,
        bias_initializer: Any = ZEROS,
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        """Makes the layer.

        Args:
            filters: number of channels of the output.
            kernel_size: of the window: a number, or one for each spatial axis.
            strides: likewise.
            padding: `"valid"` or `"same"`.
            data_format: `"channels_last"` or `"channels_first"`.
            dilation_rate: a number, or one for each spatial axis.
            activation: see `Dense`.
            use_bias: whether to add a bias to each channel.
            kernel_initializer: see `Dense`.
            bias_initializer: likewise.
            kernel_regularizer: likewise.
            bias_regularizer: likewise.
            activity_regularizer: likewise.
            kernel_constraint: likewise.
            bias_constraint: likewise.
            trainable: see `Layer`.
            name: see `Layer`.
            **kwargs: for `Layer`.

        Raises:
            ValueError: one of these is something else.
        """
        bias = Weight(bias_initializer, bias_regularizer, bias_constraint) if use_bias else None
        super().__init__(activation, bias, activity_regularizer, trainable, name, **kwargs)
        self._slide(filters, kernel_size, strides, padding, data_format)
        self.dilation_rate = sizes_of(dilation_rate, self.rank, "dilation_rate")
        self.kernel: Any = None
        self._kernel = Weight(kernel_initializer, kernel_regularizer, kernel_constraint)

    def build(self, input_shape: Any) -> None:
        """Makes kernel and bias."""
        shape = [*self.kernel_size, self._channels(input_shape), self.filters]
        self.kernel = self._add("kernel", shape, self._kernel)
        self._add_bias(self.filters)

    def call(self, inputs: Any) -> Any:
        """Convolves the input."""
        outputs = windows.convolution(
            inputs,
            convert_to_tensor(self.kernel),
            self.strides,
            self.padding,
            self._axes,
            self.dilation_rate,
        )
        return self._finished(outputs, self._axes)


class Conv1D(_Convolution):
    """Convolves along one axis, of inputs `[rows, steps, channels]`.

    Source: `tf.compat.v1.layers.Conv1D`.
    """

    rank = 1


class Conv2D(_Convolution):
    """Convolves along two axes, of inputs `[rows, height, width, channels]`.

    Source: `tf.compat.v1.layers.Conv2D`.
    """

    rank = 2


class Conv3D(_Convolution):
    """Convolves along three axes, of inputs `[rows, depth, height, width, channels]`.

    Source: `tf.compat.v1.layers.Conv3D`.
    """

    rank = 3


class _TransposedConvolution(_Window):
    """Goes from the output of a convolution to its input; the kernel's shape is `[*kernel_size, filters, channels]`.

    Attributes:
        kernel: the weights; None before the first call.
    """

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str = "channels_last",
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = None,
        bias_initializer: Any = ZEROS,
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        """Makes the layer; see `Conv2D` for the parameters."""
        bias = Weight(bias_initializer, bias_regularizer, bias_constraint) if use_bias else None
        super().__init__(activation, bias, activity_regularizer, trainable, name, **kwargs)
        self._slide(filters, kernel_size, strides, padding, data_format)
        self.kernel: Any = None
        self._kernel = Weight(kernel_initializer, kernel_regularizer, kernel_constraint)

    def build(self, input_shape: Any) -> None:
        """Makes kernel and bias."""
        shape = [*self.kernel_size, self.filters, self._channels(input_shape)]
        self.kernel = self._add("kernel", shape, self._kernel)
        self._add_bias(self.filters)

    def call(self, inputs: Any) -> Any:
        """Convolves the input backwards."""
        outputs = windows.transposed_convolution(
            inputs, convert_to_tensor(self.kernel), self.strides, self.padding, self._axes
        )
        return self._finished(outputs, self._axes)


class Conv2DTranspose(_TransposedConvolution):
    """Convolves backwards along two axes: from the output of a `Conv2D` to its input.

    Source: `tf.compat.v1.layers.Conv2DTranspose`.
    """

    rank = 2


class Conv3DTranspose(_TransposedConvolution):
    """Convolves backwards along three axes: from the output of a `Conv3D` to its input.

    Source: `tf.compat.v1.layers.Conv3DTranspose`.
    """

    rank = 3


class _SeparableConvolution(_Window):
    """Convolves each channel by itself, then mixes the channels at each place.

    Attributes:
        depthwise_kernel: shape `[*kernel_size, channels, depth_multiplier]`; None before the first call.
        pointwise_kernel: shape `[1, ..., channels * depth_multiplier, filters]`; likewise.
        dilation_rate: distances between the elements of a window.
    """

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str = "channels_last",
        dilation_rate: Any = 1,
        depth_multiplier: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = None,
        pointwise_initializer: Any = None,
        bias_initializer: Any = ZEROS,
        depthwise_regularizer: Any = None,
        pointwise_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        depthwise_constraint: Any = None,
        pointwise_constraint: Any = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        """Makes the layer; see `Conv2D` for the parameters.

        `depth_multiplier` is the number of channels that each channel becomes before they are mixed.
        """
        bias = Weight(bias_initializer, bias_regularizer, bias_constraint) if use_bias else None
        super().__init__(activation, bias, activity_regularizer, trainable, name, **kwargs)
        self._slide(filters, kernel_size, strides, padding, data_format)
        self.dilation_rate = sizes_of(dilation_rate, self.rank, "dilation_rate")
        self.depth_multiplier = int(depth_multiplier)
        self.depthwise_kernel: Any = None
        self.pointwise_kernel: Any = None
        self._depthwise = Weight(depthwise_initializer, depthwise_regularizer, depthwise_constraint)
        self._pointwise = Weight(pointwise_initializer, pointwise_regularizer, pointwise_constraint)

    def build(self, input_shape: Any) -> None:
        """Makes the two kernels and the bias."""
        channels = self._channels(input_shape)
        self.depthwise_kernel = self._add(
            "depthwise_kernel",
            [*self.kernel_size, channels, self.depth_multiplier],
            self._depthwise,
        )
        self.pointwise_kernel = self._add(
            "pointwise_kernel",
            [*[1] * self.rank, channels * self.depth_multiplier, self.filters],
            self._pointwise,
        )
        self._add_bias(self.filters)

    def call(self, inputs: Any) -> Any:
        """Convolves twice."""
        kernel = convert_to_tensor(self.depthwise_kernel)
        grouped = jnp.reshape(kernel, (*self.kernel_size, 1, -1))
        deep = windows.convolution(
            inputs, grouped, self.strides, self.padding, self._axes, self.dilation_rate
        )
        mixed = windows.convolution(
            deep, convert_to_tensor(self.pointwise_kernel), 1, "VALID", self._axes
        )
        return self._finished(mixed, self._axes)


class SeparableConv1D(_SeparableConvolution):
    """Convolves each channel along one axis, and mixes the channels.

    Source: `tf.compat.v1.layers.SeparableConv1D`.
    """

    rank = 1


class SeparableConv2D(_SeparableConvolution):
    """Convolves each channel along two axes, and mixes the channels.

    Source: `tf.compat.v1.layers.SeparableConv2D`.
    """

    rank = 2


conv1d = functional(Conv1D, __name__, "conv1d")
conv2d = functional(Conv2D, __name__, "conv2d")
conv3d = functional(Conv3D, __name__, "conv3d")
conv2d_transpose = functional(Conv2DTranspose, __name__, "conv2d_transpose")
conv3d_transpose = functional(Conv3DTranspose, __name__, "conv3d_transpose")
separable_conv1d = functional(SeparableConv1D, __name__, "separable_conv1d")
separable_conv2d = functional(SeparableConv2D, __name__, "separable_conv2d")
