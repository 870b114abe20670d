"""Rounding to steps; the recorded results have the numbers."""

import numpy as np
import pytest

from frontends import tf


def test_bounds_are_trained_in_a_step():
    low, high = tf.Variable(-1.0), tf.Variable(1.0)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            y = tf.quantization.fake_quant_with_min_max_vars(x, low, high, num_bits=4)
            loss = tf.reduce_sum(tf.square(y - x))
        gradients = tape.gradient(loss, [low, high])
        for variable, gradient in zip((low, high), gradients, strict=True):
            variable.assign_sub(0.1 * gradient)
        return loss

    x = np.linspace(-2, 2, 9, dtype=np.float32)
    losses = [float(step(x)) for _ in range(5)]
    assert losses[-1] < losses[0] / 2
    assert low.numpy() < -1.2
    assert high.numpy() > 1.2


def test_quantized_numbers_do_not_exist():
    with pytest.raises(
        AttributeError, match=r"Use keras.Model.quantize, or tf\.quantization\.fake"
    ):
        tf.quantization.quantize  # noqa: B018
    with pytest.raises(tf.errors.InvalidArgumentError, match="between 2 and 16, inclusive, was: 1"):
        tf.quantization.fake_quant_with_min_max_args([1.0], num_bits=1)
