"""What initializers share."""

import numpy as np
import pytest

from frontends import tf

v1 = tf.compat.v1


def test_numbers_follow_the_seeds():
    own = v1.random_normal_initializer(seed=3)
    assert own([4]).tolist() == own([4]).tolist()
    drawn = []
    for _ in range(2):
        tf.random.set_seed(7)
        free = v1.random_normal_initializer()
        drawn.append([free([4]).tolist(), free([4]).tolist()])
    tf.random.set_seed(None)
    assert drawn[0] == drawn[1]
    assert drawn[0][0] != drawn[0][1]


def test_the_dtype_of_the_call_goes_before_that_of_the_initializer():
    made = v1.ones_initializer(dtype=tf.float16)
    assert made([2]).dtype == tf.float16
    assert made([2], dtype=tf.int32, partition_info=None).dtype == tf.int32
    assert v1.truncated_normal_initializer()([2], tf.bfloat16).dtype == tf.bfloat16
    with pytest.raises(ValueError, match="Expected floating point type, got int32"):
        v1.random_normal_initializer(dtype=tf.int32)


def test_a_size_that_is_not_known_is_an_error():
    with pytest.raises(ValueError, match=r"shape of a first value must be known, got \(None, 2\)"):
        v1.zeros_initializer()([None, 2])


def test_variables_that_replicas_make_are_equal():
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    made = []

    def replica():
        if not made:
            made.append(tf.Variable(lambda: v1.random_uniform_initializer(1, 2)([3])))
        return made[0] * 1.0

    first, second = strategy.run(replica).values
    assert np.asarray(first).min() >= 1
    np.testing.assert_array_equal(first, second)
