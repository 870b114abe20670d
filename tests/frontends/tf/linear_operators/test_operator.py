"""What all operators have; recorded cases (tests/golden) hold their numbers to TensorFlow's."""

import numpy as np
import pytest

from frontends import tf

_M = np.asarray([[4.0, 1.0], [1.0, 3.0]], np.float32)


def test_what_the_caller_says():
    operator = tf.linalg.LinearOperatorFullMatrix(_M, is_positive_definite=True)
    assert operator.is_non_singular
    assert operator.is_square
    assert operator.is_self_adjoint is None
    assert operator.H is not operator
    same = tf.linalg.LinearOperatorFullMatrix(_M, is_self_adjoint=True)
    assert same.adjoint() is same


def test_errors_say_what_to_say():
    operator = tf.linalg.LinearOperatorFullMatrix(_M)
    with pytest.raises(ValueError, match="is_self_adjoint=True, is_positive_definite=True"):
        operator.cholesky()
    with pytest.raises(NotImplementedError, match="is_self_adjoint=True"):
        operator.eigvals()
    with pytest.raises(ValueError, match=r"2 rows, got the shape \(3, 1\)"):
        operator.matmul(np.ones([3, 1], np.float32))
    with pytest.raises(NotImplementedError, match="said to be singular"):
        tf.linalg.LinearOperatorZeros(2).solve(_M)


def test_shapes_as_arrays():
    operator = tf.linalg.LinearOperatorIdentity(3, batch_shape=[2])
    assert operator.shape_tensor().tolist() == [2, 3, 3]
    assert operator.batch_shape_tensor().tolist() == [2]
    sizes = operator.domain_dimension_tensor(), operator.range_dimension_tensor()
    assert [*map(int, sizes), int(operator.tensor_rank_tensor())] == [3, 3, 3]


def test_gradients_in_a_program():
    diagonal = tf.Variable([1.0, 2.0])

    @tf.function
    def slope():
        with tf.GradientTape() as tape:
            operator = tf.linalg.LinearOperatorDiag(diagonal)
            y = tf.reduce_sum(operator.solvevec([1.0, 4.0])) + operator.log_abs_determinant()
        return tape.gradient(y, diagonal)

    assert slope().tolist() == [0, -0.5]
