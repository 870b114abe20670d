"""Diagonals stay diagonals."""

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
