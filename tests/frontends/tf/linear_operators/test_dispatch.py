"""Functions of `tf.linalg` on operators; recorded cases (tests/golden) hold their numbers to TensorFlow's."""

import pytest

from frontends import tf

_SURE = tf.linalg.LinearOperatorFullMatrix(
    [[4.0, 1.0], [1.0, 3.0]], is_self_adjoint=True, is_positive_definite=True
)


def test_operators_stay_operators():
    assert tf.linalg.adjoint(_SURE) is _SURE
    assert type(tf.linalg.inv(_SURE)).__name__ == "LinearOperatorInversion"
    assert type(tf.linalg.cholesky(_SURE)).__name__ == "LinearOperatorLowerTriangular"
    assert tf.matmul(_SURE, _SURE).operators == [_SURE, _SURE]


def test_errors_say_what_to_write():
    x = tf.ones([2, 2])
    with pytest.raises(ValueError, match="adjoint_a=True"):
        tf.matmul(_SURE, x, transpose_a=True)
    with pytest.raises(ValueError, match="adjoint_a=True"):
        tf.linalg.matvec(_SURE, [1.0, 2.0], transpose_a=True)
    with pytest.raises(ValueError, match="LinearOperatorFullMatrix"):
        tf.linalg.solve(x, _SURE)
    with pytest.raises(ValueError, match="is_positive_definite=True"):
        tf.linalg.logdet(tf.linalg.LinearOperatorFullMatrix(x))
    for function in (tf.linalg.expm, tf.linalg.eigvalsh, tf.transpose):
        with pytest.raises(ValueError, match="unsupported type"):
            function(_SURE)
    with pytest.raises(ValueError, match="unsupported type"):
        tf.linalg.matvec(x, _SURE)
