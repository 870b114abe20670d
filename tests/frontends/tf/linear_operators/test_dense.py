"""Full and triangular matrices."""

import numpy as np
import pytest

from frontends import tf


def test_parts():
    matrix = np.asarray([[4.0, 1.0], [1.0, 3.0]], np.float32)
    assert tf.linalg.LinearOperatorFullMatrix(matrix).matrix.tolist() == matrix.tolist()
    lower = tf.linalg.LinearOperatorLowerTriangular(matrix)
    assert lower.tril.tolist() == matrix.tolist()
    assert lower.to_dense().tolist() == [[4, 0], [1, 3]]
    with pytest.raises(ValueError, match="2 dimensions"):
        tf.linalg.LinearOperatorFullMatrix([1.0])
