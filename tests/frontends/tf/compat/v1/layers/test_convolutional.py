"""Convolutions with channels first; other numbers are in tests/golden/scenarios/layers.py."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf.graph import Graph

layers = tf.compat.v1.layers
SHAPES = {"1d": (2, 6, 3), "2d": (2, 5, 6, 3), "3d": (2, 4, 3, 5, 3)}


@pytest.mark.parametrize(
    "name",
    [
        *("conv1d", "conv2d", "conv3d", "conv2d_transpose", "conv3d_transpose"),
        *("separable_conv1d", "separable_conv2d"),
    ],
)
def test_channels_may_come_first(name):
    x = np.random.randn(*next(shape for rank, shape in SHAPES.items() if rank in name))
    x = x.astype(np.float32)
    function = getattr(layers, name)
    options = {"padding": "same", "bias_initializer": "ones", "name": "a", "strides": 2}
    with Graph().as_default():
        last = function(x, 4, 2, **options)
        first = function(
            np.moveaxis(x, -1, 1), 4, 2, data_format="channels_first", reuse=True, **options
        )
    np.testing.assert_allclose(np.moveaxis(first, 1, -1), last, rtol=1e-4, atol=1e-5)


def test_shapes_of_the_variables():
    x = np.ones((1, 8, 8, 3), np.float32)
    with Graph().as_default():
        layers.conv2d(x, 4, (3, 2))
        layers.conv2d_transpose(x, 4, (3, 2))
        layers.separable_conv2d(x, 4, (3, 2), depth_multiplier=2)
        shapes = {one.name: tuple(one.shape) for one in tf.compat.v1.trainable_variables()}
    assert shapes == {
        "conv2d/kernel:0": (3, 2, 3, 4),
        "conv2d/bias:0": (4,),
        "conv2d_transpose/kernel:0": (3, 2, 4, 3),
        "conv2d_transpose/bias:0": (4,),
        "separable_conv2d/depthwise_kernel:0": (3, 2, 3, 2),
        "separable_conv2d/pointwise_kernel:0": (1, 1, 6, 4),
        "separable_conv2d/bias:0": (4,),
    }


def test_inputs_that_do_not_fit_are_an_error():
    layer = layers.Conv2D(4, 3)
    with Graph().as_default():
        with pytest.raises(ValueError, match="expected ndim=4, found ndim=3"):
            layer(np.ones((8, 8, 3), np.float32))
        with pytest.raises(
            TypeError, match="takes floating-point numbers, but its input is of type uint8"
        ):
            layer(np.ones((1, 8, 8, 3), np.uint8))
        layer(np.ones((1, 8, 8, 3), np.float32))
        with pytest.raises(
            ValueError, match="expected axis 3 of input shape to have value 3, found 1"
        ):
            layer(np.ones((1, 8, 8, 1), np.float32))
