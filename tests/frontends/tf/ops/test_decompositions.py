"""Decompositions; recorded cases hold their numbers to TensorFlow's."""

import numpy as np

from frontends import tf

A = np.array([[4.0, 1.0], [1.0, 3.0]], np.float32)


def test_factors_give_the_matrix():
    lower = tf.linalg.cholesky(A)
    np.testing.assert_allclose(lower @ lower.T, A, rtol=1e-6)
    q, r = tf.linalg.qr(A)
    np.testing.assert_allclose(q @ r, A, rtol=1e-5)
    s, u, v = tf.linalg.svd(A)
    np.testing.assert_allclose(u @ np.diag(s) @ np.transpose(v), A, rtol=1e-5)
    values, vectors = tf.linalg.eigh(A)
    np.testing.assert_allclose(A @ vectors, vectors * values, rtol=1e-5)


def test_only_the_lower_part_is_read():
    np.testing.assert_allclose(tf.cholesky(np.tril(A)), tf.cholesky(A), rtol=1e-6)


def test_solutions_solve():
    right = np.array([[1.0], [2.0]], np.float32)
    for found in (
        tf.linalg.cholesky_solve(tf.linalg.cholesky(A), right),
        tf.linalg.lstsq(A, right),
    ):
        np.testing.assert_allclose(A @ found, right, rtol=1e-5)
    half = tf.linalg.triangular_solve(A, right, lower=False)
    np.testing.assert_allclose(np.triu(A) @ half, right, rtol=1e-5)
