"""Initializers without chance."""

import pytest

from frontends import tf

v1 = tf.compat.v1


def test_zeros_and_ones():
    assert v1.zeros_initializer()([2, 1]).tolist() == [[0], [0]]
    assert v1.initializers.ones()([2], tf.int32).tolist() == [1, 1]


def test_the_last_number_of_a_constant_is_repeated():
    assert v1.constant_initializer(0.5)([2]).tolist() == [0.5, 0.5]
    assert v1.constant_initializer([1, 2])([2, 2]).tolist() == [[1, 2], [2, 2]]
    assert v1.constant_initializer([[1, 2], [3, 4]])([4]).tolist() == [1, 2, 3, 4]


def test_a_constant_that_does_not_fit_is_an_error():
    with pytest.raises(ValueError, match="has 2 elements, and the value 3"):
        v1.constant_initializer([1, 2, 3])([2])
    with pytest.raises(TypeError, match=r"Expected a value of shape \(2, 2\), got one of shape"):
        v1.constant_initializer([1, 2], verify_shape=True)([2, 2])
