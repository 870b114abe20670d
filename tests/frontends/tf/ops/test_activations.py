"""Activations; recorded cases hold their numbers to TensorFlow's."""

import numpy as np

from frontends import tf


def test_shapes_and_simple_values():
    assert tf.nn.crelu([1.0, -2.0]).tolist() == [1, 0, 0, 2]
    assert tf.nn.softsign([1.0, -3.0]).tolist() == [0.5, -0.75]
    assert tf.nn.zero_fraction([0, 1, 0, 0]) == 0.75
    assert np.allclose(
        tf.nn.lrn(np.ones((1, 1, 1, 4)), 1, 1.0, 1.0, 1.0)[0, 0, 0], [1 / 3, 1 / 4, 1 / 4, 1 / 3]
    )
    weighted = tf.nn.weighted_cross_entropy_with_logits([1.0, 0.0], [0.0, 0.0], 2.0)
    assert np.allclose(weighted, np.log(2) * np.array([2, 1]))
