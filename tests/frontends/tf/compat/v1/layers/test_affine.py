"""Bias and activation of layers."""

import numpy as np

from frontends import tf
from frontends.tf.graph import Graph

v1 = tf.compat.v1


def test_bias_and_activation():
    x = np.float32([[1, -1]])
    with Graph().as_default():
        options = {
            "kernel_initializer": "identity",
            "bias_initializer": v1.constant_initializer(0.5),
        }
        layer = v1.layers.Dense(2, "relu", **options)
        assert layer(x).tolist() == [[1.5, 0]]
        assert layer.bias.numpy().tolist() == [0.5, 0.5]
        bare = v1.layers.Dense(2, use_bias=False, **options)
        assert bare(x).tolist() == [[1, -1]]
        assert (bare.bias, bare.use_bias, len(bare.weights)) == (None, False, 1)
