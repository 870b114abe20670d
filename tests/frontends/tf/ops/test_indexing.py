"""Functions that take parts of arrays, against NumPy; out of range they differ from TensorFlow's."""

import jax
import numpy as np
import pytest

from frontends import tf
from tests.frontends.tf.ops.comparing import same

X = np.random.RandomState(0).randn(3, 4).astype(np.float32)
I32 = np.int32


def test_taking():
    same(tf.gather(X, [2, 0]), X[[2, 0]])
    same(tf.gather(X, [3, 1], axis=-1), X[:, [3, 1]])
    rows = np.array([[3, 1], [0, 0], [1, 1]])
    same(tf.gather(X, rows, batch_dims=1), np.take_along_axis(X, rows, 1))
    same(tf.gather(X, rows, axis=1, batch_dims=1), np.take_along_axis(X, rows, 1))
    same(tf.gather_nd(X, [[0, 1], [2, 3]]), X[[0, 2], [1, 3]])
    same(tf.gather_nd(X, [[2], [0]]), X[[2, 0]])
    same(tf.gather_nd(X, [[2], [0], [1]], batch_dims=1), X[[0, 1, 2], [2, 0, 1]])
    same(tf.boolean_mask(X, [True, False, True]), X[[0, 2]])
    same(tf.boolean_mask(X, [True, False, True, True], axis=1), X[:, [0, 2, 3]])
    same(tf.slice(X, [1, 0], [-1, 2]), X[1:, :2])
    same(tf.where(X > 0, X, 0.0), np.where(X > 0, X, 0))
    same(tf.where([True, False, True]), np.array([[0], [2]], I32))
    with pytest.raises(ValueError, match="both"):
        tf.where(X > 0, X)


@pytest.mark.parametrize(
    ("begin", "size"),
    [([2, 0], [2, 1]), ([-1, 0], [1, 1]), ([4, 0], [0, 1]), ([4, 0], [-1, 1]), ([0, 0], [1, -2])],
)
def test_a_block_out_of_range_is_refused(begin, size):
    for first in (begin, tf.constant(begin)):
        with pytest.raises(ValueError, match=r"inside of shape \(3, 4\)"):
            tf.slice(X, first, size)
    with pytest.raises(ValueError, match="inside of shape"):
        jax.jit(lambda x: tf.slice(x, begin, size))(X)


def test_a_block_may_begin_where_the_program_says():
    cut = jax.jit(lambda x, row: tf.slice(x, [row, 0], [1, 2]))
    same(cut(X, 2), X[2:, :2])


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    ("take", "index", "size"),
    [
        (lambda x: tf.gather(x, [0, 3]), 3, 3),
        (lambda x: tf.gather(x, -1), -1, 3),
        (lambda x: tf.gather(x, np.array([4]), axis=1), 4, 4),
        (lambda x: tf.gather(x, [[-1], [0], [1]], batch_dims=1), -1, 4),
        (lambda x: tf.gather_nd(x, [[0, 0], [0, 4]]), 4, 4),
        (lambda x: tf.nn.embedding_lookup(x, [7]), 7, 3),
    ],
)
def test_an_index_out_of_range_that_is_known_is_refused(take, index, size, compiled):
    with pytest.raises(tf.errors.InvalidArgumentError, match=rf"{index} along an axis of {size}"):
        (tf.function(take) if compiled else take)(X)


def test_an_index_out_of_range_that_only_the_program_knows():
    rows = np.array([-1, 3])
    assert np.isnan(jax.jit(tf.gather)(X, rows)).all()
    assert np.isnan(
        jax.jit(lambda i: tf.gather(X, i[:, None], batch_dims=1)[0])(rows[[0, 0, 1]])
    ).all()
    assert np.isnan(jax.jit(tf.gather_nd)(X, np.array([[-1, 0], [0, 4]]))).all()


def test_unsigned_indices():
    same(tf.gather(X, tf.constant([2], tf.uint8)), X[[2]])


def test_numbers_are_a_mask():
    same(tf.boolean_mask(X, [1, 0, 2]), X[[0, 2]])
    same(tf.boolean_mask(X, [1.0, 0.0, 0.0, 1.0], axis=-1), X[:, [0, 3]])


def test_a_mask_of_the_host_works_in_a_program():
    masked = tf.function(lambda x: tf.boolean_mask(x, [True, False, True]))
    same(masked(X), X[[0, 2]])
