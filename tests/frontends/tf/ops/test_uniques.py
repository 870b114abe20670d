"""Different elements of a vector; the results are TensorFlow's."""

import pytest

from frontends import tf

X = [3, 1, 3, 2, 1]


def test_elements_in_the_order_in_which_they_come():
    found = tf.unique(tf.constant(X))
    assert (found.y.tolist(), found.idx.tolist()) == ([3, 1, 2], [0, 1, 0, 2, 1])
    assert (found.y.dtype, found.idx.dtype) == (tf.int32, tf.int32)
    y, idx, count = tf.unique_with_counts([2.5, 1.0, 2.5])
    assert (y.tolist(), idx.tolist(), count.tolist()) == ([2.5, 1], [0, 1, 0], [2, 1])
    y, idx = tf.unique(["b", "a", "b"])
    assert (list(y), idx.tolist()) == (["b", "a"], [0, 1, 0])
    assert [part.shape for part in tf.unique(tf.zeros([0]))] == [(0,), (0,)]
    with pytest.raises(tf.errors.InvalidArgumentError, match="expects a 1D vector"):
        tf.unique([[1, 2]])


def test_in_a_program():
    @tf.function
    def known(x):
        return tf.unique(X).y * x

    @tf.function
    def unknown(x):
        return tf.unique_with_counts(x).count * 10

    assert known(tf.constant(2)).tolist() == [6, 2, 4]
    with pytest.warns(UserWarning, match=r"unknown runs as Python.*jnp.unique\(x, size=n"):
        assert unknown(tf.constant(X)).tolist() == [20, 20, 10]
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    with pytest.raises(ValueError, match=r"jnp.unique\(x, size=n"):
        strategy.run(tf.unique, args=(tf.constant(X),))
