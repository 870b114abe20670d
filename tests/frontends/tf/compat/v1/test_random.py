"""`tf.compat.v1.random`: names that TensorFlow 1 has besides those of `tf.random`."""

import numpy as np

from frontends import tf
from frontends.tf.compat import v1


def test_the_seed_is_the_global_one():
    v1.random.set_random_seed(3)
    first = v1.random.normal([4])
    tf.random.set_seed(3)
    np.testing.assert_array_equal(first, tf.random.normal([4]))


def test_multinomial_draws_classes():
    v1.set_random_seed(1)
    drawn = v1.multinomial([[0.0, -100.0], [-100.0, 0.0]], 5, output_dtype=tf.int32)
    assert drawn.dtype == "int32"
    assert drawn.tolist() == [[0] * 5, [1] * 5]
    assert v1.multinomial is v1.random.multinomial
