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


_MATRIX = [[4.0, 1.0], [1.0, 3.0]]
_OF_VARIABLES = {
    "Diag": ([[1.0, 2.0]], tf.linalg.LinearOperatorDiag),
    "ScaledIdentity": ([3.0], lambda x: tf.linalg.LinearOperatorScaledIdentity(2, x)),
    "FullMatrix": ([_MATRIX], tf.linalg.LinearOperatorFullMatrix),
    "LowerTriangular": ([_MATRIX], tf.linalg.LinearOperatorLowerTriangular),
    "Circulant": (
        [[3.0, 1.0]],
        lambda x: tf.linalg.LinearOperatorCirculant(x, input_output_dtype=tf.float32),
    ),
    "Toeplitz": ([[4.0, 2.0], [4.0, 3.0]], tf.linalg.LinearOperatorToeplitz),
    "Householder": ([[1.0, 2.0]], tf.linalg.LinearOperatorHouseholder),
    "LowRankUpdate": (
        [[1.0, 2.0], [[1.0], [2.0]], [0.5], [[2.0], [1.0]]],
        lambda d, u, middle, v: tf.linalg.LinearOperatorLowRankUpdate(
            tf.linalg.LinearOperatorDiag(d), u, middle, v
        ),
    ),
    "Composition": (
        [[1.0, 2.0], _MATRIX],
        lambda d, m: tf.linalg.LinearOperatorDiag(d).matmul(tf.linalg.LinearOperatorFullMatrix(m)),
    ),
}


def _loss(operator):
    return tf.reduce_sum(operator.matvec([1.0, 3.0])) + tf.reduce_sum(
        operator.solvevec([1.0, 4.0]) ** 2
    )


@pytest.mark.parametrize("kind", _OF_VARIABLES)
def test_operators_keep_their_variables(kind):
    values, make = _OF_VARIABLES[kind]
    variables = [tf.Variable(value) for value in values]
    operator = make(*variables)
    assert {id(one) for one in operator.trainable_variables} == set(map(id, variables))

    with tf.GradientTape() as tape:
        loss = _loss(make(*variables))
    expected = tape.gradient(loss, variables)

    @tf.function
    def slopes():
        with tf.GradientTape() as tape:
            loss = _loss(operator)
        return tape.gradient(loss, variables)

    for found in (slopes(), slopes()):
        for one, wanted in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, wanted, rtol=1e-5)

    for variable in variables:
        variable.assign(2 * variable + 0.5)
    again = make(*(tf.constant(variable) for variable in variables))
    np.testing.assert_allclose(operator.to_dense(), again.to_dense(), rtol=1e-6)
    np.testing.assert_allclose(operator.matvec([1.0, 3.0]), again.matvec([1.0, 3.0]), rtol=1e-5)
    np.testing.assert_allclose(operator.determinant(), again.determinant(), rtol=1e-5)


def test_variables_train_in_replicas():
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    with strategy.scope():
        diagonal = tf.Variable([1.0, 2.0])
        operator = tf.linalg.LinearOperatorDiag(diagonal)

    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(operator.matvec([1.0, 3.0]) ** 2)
        slope = tape.gradient(loss, diagonal)
        replica = tf.distribute.get_replica_context()
        assert replica
        diagonal.assign_sub(0.1 * replica.all_reduce("mean", slope))
        return loss

    run = tf.function(lambda: strategy.run(step))
    losses = [float(strategy.reduce("mean", run(), axis=None)) for _ in range(2)]
    # The slope is 2 d x^2, [2, 36]: what remains is [0.8, -1.6].
    np.testing.assert_allclose(losses, [37, 0.64 + 9 * 2.56], rtol=1e-5)
    np.testing.assert_allclose(operator.diag_part(), [0.64, 1.28], rtol=1e-5)


def test_variables_are_in_checkpoints(tmp_path):
    matrix = tf.Variable(_MATRIX)
    operator = tf.linalg.LinearOperatorFullMatrix(matrix)
    path = tf.train.Checkpoint(operator=operator).save(str(tmp_path / "checkpoint"))
    assert "operator/_matrix/.ATTRIBUTES/VARIABLE_VALUE" in dict(tf.train.list_variables(path))
    matrix.assign(tf.zeros([2, 2]))
    tf.train.Checkpoint(operator=operator).restore(path)
    assert operator.to_dense().tolist() == _MATRIX


def test_products_from_the_left():
    operator = tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])
    x = tf.constant([[1.0, 10.0]])
    assert (x @ operator).tolist() == (tf.Variable(x) @ operator).tolist() == [[31, 42]]
    assert (operator @ tf.transpose(x)).tolist() == [[21], [43]]
