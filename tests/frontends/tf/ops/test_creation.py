"""Functions that make arrays, against NumPy."""

import numpy as np
import pytest

from frontends import tf
from tests.frontends.tf.ops.comparing import same

X = np.random.RandomState(0).randn(3, 4).astype(np.float32)
F32, I32 = np.float32, np.int32


def test_constant():
    same(tf.constant(7, shape=[2, 2]), np.full((2, 2), 7, I32))
    same(tf.constant([1, 2, 3, 4], tf.float32, (2, 2)), np.array([[1, 2], [3, 4]], F32))
    assert tf.constant([1, 2], dtype=tf.int64).dtype == tf.int32  # and no warning
    assert tf.constant("text") == "text"
    assert tf.constant(["a", "b"], tf.string).tolist() == ["a", "b"]
    with pytest.raises(OverflowError, match="jax_enable_x64"):
        tf.constant([2**40])


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((5,), np.arange(5, dtype=I32)),
        ((5.0,), np.arange(5, dtype=F32)),
        ((1, 10, 3), np.array([1, 4, 7], I32)),
        ((10, 0, -4), np.array([10, 6, 2], I32)),
        ((0.0, 1.0, 0.25), np.array([0, 0.25, 0.5, 0.75], F32)),
        ((0, 1.0, 0.5), np.array([0, 0.5], F32)),
    ],
)
def test_range(arguments, expected):
    same(tf.range(*arguments), expected)


def test_range_keywords():
    same(tf.range(3, dtype=tf.float32), np.arange(3, dtype=F32))
    same(tf.range(2, limit=6, delta=2), np.array([2, 4], I32))
    same(tf.range(tf.constant(3)), np.arange(3, dtype=I32))


def test_one_hot():
    same(tf.one_hot([0, 2, -1, 5], 3), np.array([[1, 0, 0], [0, 0, 1], [0] * 3, [0] * 3], F32))
    same(tf.one_hot([0, 1], 2, on_value=5, off_value=-1), np.array([[5, -1], [-1, 5]], I32))
    same(tf.one_hot([0, 1], 2, on_value=True, off_value=False), np.eye(2, dtype=bool))
    same(tf.one_hot([0, 2], depth=3, axis=0), np.array([[1, 0], [0, 0], [0, 1]], F32))
    same(tf.one_hot([[0], [1]], 2, dtype=tf.int32), np.eye(2, dtype=I32)[:, None])


@pytest.mark.parametrize("indices", [[0.5], [True]])
def test_one_hot_takes_integers(indices):
    with pytest.raises(TypeError, match=r"tf\.cast\(indices, tf\.int32\)"):
        tf.one_hot(indices, 3)


def test_making():
    same(tf.zeros([2], tf.int32), np.zeros(2, I32))
    same(tf.ones(3), np.ones(3, F32))
    same(tf.zeros_like([1, 2]), np.zeros(2, I32))
    same(tf.ones_like(X, dtype=tf.int32), np.ones((3, 4), I32))
    same(tf.fill([2, 1], 7), np.full((2, 1), 7, I32))
    same(tf.eye(2, 3), np.eye(2, 3, dtype=F32))
    same(tf.eye(2, batch_shape=[3]), np.stack([np.eye(2, dtype=F32)] * 3))
    same(tf.linspace(0.0, 1.0, 5), np.linspace(0, 1, 5, dtype=F32))
    same(tf.sequence_mask([1, 3, 0]), np.arange(3) < np.array([[1], [3], [0]]))
    same(tf.sequence_mask([1], maxlen=3, dtype=tf.float32), np.array([[1, 0, 0]], F32))


def test_zeros_of_texts_are_empty_ones():
    empty = tf.zeros([0, 1], tf.string)
    assert tf.concat([empty, [["Map"]]], 0).numpy().tolist() == [[b"Map"]]
    assert tf.zeros([2], tf.string).numpy().tolist() == [b"", b""]
