"""Diagonals stay diagonals."""

import numpy as np
import pytest

from frontends import tf


def test_inverses_and_factors_keep_the_class():
    scaled = tf.linalg.LinearOperatorScaledIdentity(3, 4.0, is_positive_definite=True)
    assert float(scaled.multiplier) == 4
    assert type(scaled.inverse()) is type(scaled.cholesky()) is type(scaled)
    assert scaled.cholesky().diag_part().tolist() == [2, 2, 2]
    one = tf.linalg.LinearOperatorIdentity(3)
    assert one.inverse() is one.cholesky() is one.adjoint() is one
    assert float(one.cond()) == 1


def test_complex_ones_are_not_self_adjoint():
    operator = tf.linalg.LinearOperatorDiag(tf.complex([1.0], [2.0]))
    assert operator.adjoint().diag_part().tolist() == [1 - 2j]


def test_zeros_have_no_inverse():
    zeros = tf.linalg.LinearOperatorZeros(2, 3)
    assert zeros.shape.as_list() == [2, 3]
    with pytest.raises(NotImplementedError, match=r"\(2, 3\)"):
        zeros.inverse()


def test_infinite_entries_leave_zeros_beside_them():
    operator = tf.linalg.LinearOperatorDiag([np.inf, 1.0])
    assert operator.to_dense().tolist() == [[np.inf, 0], [0, 1]]
    inverse = tf.linalg.LinearOperatorDiag([0.0, 1.0]).inverse()
    assert inverse.to_dense().tolist() == [[np.inf, 0], [0, 1]]


def test_real_ones_are_self_adjoint():
    with pytest.raises(ValueError, match=r"A real diagonal .* Leave is_self_adjoint out"):
        tf.linalg.LinearOperatorDiag([1.0], is_self_adjoint=False)
    assert tf.linalg.LinearOperatorScaledIdentity(2, 3.0).is_self_adjoint
    with pytest.raises(ValueError, match="An identity"):
        tf.linalg.LinearOperatorIdentity(2, is_self_adjoint=False)
