"""Circulant and Toeplitz matrices, reflections and permutations."""

import numpy as np
import pytest

from frontends import tf


def test_parts():
    circulant = tf.linalg.LinearOperatorCirculant(np.asarray([3.0, 1.0], np.complex64))
    assert circulant.convolution_kernel().tolist() == [2, 1]
    assert circulant.inverse().matmul(circulant).to_dense().tolist() == [[1, 0], [0, 1]]
    toeplitz = tf.linalg.LinearOperatorToeplitz([1.0, 2.0], [1.0, 3.0])
    assert [toeplitz.col.tolist(), toeplitz.row.tolist()] == [[1, 2], [1, 3]]
    mirror = tf.linalg.LinearOperatorHouseholder([0.0, 2.0])
    assert mirror.reflection_axis.tolist() == [0, 2]
    assert mirror.inverse() is mirror


def test_a_permutation_is_undone():
    operator = tf.linalg.LinearOperatorPermutation([2, 0, 1])
    x = tf.constant([1.0, 2.0, 3.0])
    assert operator.matvec(x).tolist() == [3, 1, 2]
    assert operator.inverse().matvec(operator.matvec(x)).tolist() == [1, 2, 3]
    assert operator.perm.tolist() == [2, 0, 1]


def test_a_real_spectrum_is_of_a_self_adjoint_matrix():
    operator = tf.linalg.LinearOperatorCirculant(
        [3.0, 1.0, 2.0], input_output_dtype=tf.float32, is_positive_definite=True
    )
    assert operator.eigvals().tolist() == [3, 1, 2]
    assert operator.adjoint() is operator
    lower = operator.cholesky().to_dense()
    np.testing.assert_allclose(lower @ lower.T, operator.to_dense(), atol=1e-6)
    product = operator.matmul(operator)
    assert product.is_self_adjoint
    assert product.is_positive_definite
    assert product.is_non_singular
    assert operator.inverse().is_positive_definite
    with pytest.raises(ValueError, match="A real spectrum"):
        tf.linalg.LinearOperatorCirculant([1.0], is_self_adjoint=False)
    assert tf.linalg.LinearOperatorCirculant(tf.complex([1.0], [2.0])).is_self_adjoint is None
