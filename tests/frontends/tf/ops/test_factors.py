"""Factors and roots of matrices; recorded cases hold the numbers to TensorFlow's."""

import numpy as np

from frontends import tf

X = np.array([[4.0, 1.0], [2.0, 3.0]], np.float32)


def test_factors_make_the_matrix_anew_and_solve_with_it():
    factors = tf.linalg.lu(X)
    np.testing.assert_allclose(tf.linalg.lu_reconstruct(*factors), X, rtol=1e-6)
    np.testing.assert_allclose(X @ tf.linalg.lu_solve(*factors, X), X, rtol=1e-5)


def test_an_interval_of_eigenvalues():
    found = tf.linalg.eigh_tridiagonal(
        tf.constant([1.0, 2.0]), tf.constant([0.0]), select="v", select_range=[1.0, 2.0]
    )
    assert found.tolist() == [2.0]


def test_a_batch_of_factors_and_one_right_hand_side():
    matrices = np.stack([X, 2 * X])
    side = np.ones((2, 1), np.float32)
    found = tf.linalg.lu_solve(*tf.linalg.lu(matrices), side)
    np.testing.assert_allclose(matrices @ found, np.stack([side, side]), rtol=1e-5)
