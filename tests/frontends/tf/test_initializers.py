"""Keras's initializers under the names of `tf`."""

import numpy as np
import pytest

from frontends import tf

keras = tf.keras


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: tf.zeros_initializer(), 0.0),
        (lambda: tf.ones_initializer(), 1.0),
        (lambda: tf.constant_initializer(2.5), 2.5),
    ],
)
def test_constants(made, expected):
    value = made()(shape=(2, 3), dtype="float32")
    np.testing.assert_array_equal(value, np.full((2, 3), expected, np.float32))


def test_random_ones_are_seeded_and_serve_layers():
    normal = tf.random_normal_initializer(mean=1.0, stddev=0.5, seed=1)
    np.testing.assert_array_equal(normal((50,)), normal((50,)))
    assert 0.7 < float(np.mean(normal((500,)))) < 1.3
    layer = keras.layers.Dense(3, kernel_initializer=tf.random_uniform_initializer(0.1, 0.2))
    layer.build((None, 4))
    assert 0.1 <= float(np.min(layer.kernel)) <= float(np.max(layer.kernel)) <= 0.2
