"""Means and variances in parts; recorded cases hold the numbers to TensorFlow's."""

import pytest

from frontends import tf


def test_statistics_give_mean_and_variance():
    found = tf.nn.normalize_moments(*tf.nn.sufficient_statistics(tf.constant([1.0, 3.0]), [0]))
    assert [float(one) for one in found] == [2.0, 1.0]


def test_dropout_of_a_seed():
    drop = tf.nn.experimental.stateless_dropout
    assert drop(tf.ones([9]), 0.5, [1, 2]).tolist() == drop(tf.ones([9]), 0.5, [1, 2]).tolist()
    with pytest.raises(ValueError, match=r"range \[0, 1\)"):
        drop(tf.ones([9]), 1.0, [1, 2])
