"""Orthogonal matrices, and the identity."""

import numpy as np
import pytest

from frontends import tf

v1 = tf.compat.v1


@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (2, 2, 3)])
def test_columns_or_rows_are_orthogonal(shape):
    matrix = v1.orthogonal_initializer(2.0, seed=1)(shape).numpy().reshape(-1, shape[-1])
    product = matrix @ matrix.T if len(matrix) < shape[-1] else matrix.T @ matrix
    np.testing.assert_allclose(product, 4 * np.eye(len(product)), atol=1e-5)


def test_identity():
    assert v1.initializers.identity(2.0)([2, 3]).tolist() == [[2, 0, 0], [0, 2, 0]]


def test_vectors_are_an_error():
    with pytest.raises(ValueError, match="must be at least two-dimensional"):
        v1.orthogonal_initializer()([3])
    with pytest.raises(ValueError, match="must be two-dimensional"):
        v1.initializers.identity()([3])
