"""Products, norms and matrices, against NumPy."""

import numpy as np
import pytest

from frontends import tf
from tests.frontends.tf.ops.comparing import close

R = np.random.RandomState(0)
X, Y = (R.randn(3, 4).astype(np.float32) for _ in range(2))


def test_products():
    close(tf.matmul(X, Y, transpose_b=True), X @ Y.T)
    close(tf.matmul(X, Y, transpose_a=True), X.T @ Y)
    close(tf.tensordot(X, Y, axes=[[1], [1]]), X @ Y.T)
    close(tf.tensordot(X, X.T, 1), X @ X.T)
    close(tf.einsum("ij,kj->ik", X, Y), X @ Y.T)
    close(tf.add_n([X, Y, X]), 2 * X + Y)


def test_matrices_that_do_not_fit_are_an_invalid_argument():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"of 4 rows.*\(3, 4\) and \(3, 4\)"):
        tf.matmul(X, Y)
    close(tf.matmul(X[None], Y.T), (X @ Y.T)[None])


def test_norms():
    close(tf.norm(X), np.linalg.norm(X))
    close(tf.norm(X, axis=1, keepdims=True), np.linalg.norm(X, axis=1, keepdims=True))
    close(tf.norm(X, ord=1), np.abs(X).sum())
    close(tf.norm(X, ord=np.inf, axis=0), np.abs(X).max(0))
    close(tf.norm(X, ord="fro", axis=[0, 1]), np.linalg.norm(X))
    close(tf.math.reduce_euclidean_norm(X, 0), np.linalg.norm(X, axis=0))
    close(tf.math.l2_normalize(X, axis=1), X / np.linalg.norm(X, axis=1, keepdims=True))
    np.testing.assert_array_equal(tf.math.l2_normalize([0.0, 0.0]), [0, 0])


def test_matrices():
    square = X[:, :3]
    close(tf.linalg.inv(square), np.linalg.inv(square))
    close(tf.linalg.det(square), np.linalg.det(square))
    close(tf.linalg.solve(square, Y), np.linalg.solve(square, Y))
    close(tf.linalg.solve(square, Y, adjoint=True), np.linalg.solve(square.T, Y))
    close(tf.linalg.trace(np.stack([square, square])), np.full(2, np.trace(square)))
    close(tf.linalg.diag([[1, 2]]), np.array([[[1, 0], [0, 2]]], np.int32))
    close(tf.linalg.diag_part(X), np.diagonal(X))
    close(tf.linalg.eye(2), np.eye(2, dtype=np.float32))


def test_band_part_and_set_diag():
    x = np.arange(1, 13, dtype=np.float32).reshape(3, 4)
    np.testing.assert_array_equal(tf.linalg.band_part(x, -1, 0), np.tril(x))
    np.testing.assert_array_equal(tf.linalg.band_part(x, 0, -1), np.triu(x))
    np.testing.assert_array_equal(tf.linalg.band_part(x, 1, 0), np.tril(x) - np.tril(x, -2))
    np.testing.assert_array_equal(tf.linalg.band_part([x, -x], 0, 0)[1], -np.tril(np.triu(x)))
    filled = tf.linalg.set_diag(x, [0, 0, 0])
    np.testing.assert_array_equal(filled, x - np.tril(np.triu(x)))
