"""`tf.sparse.to_dense` and its like."""

import numpy as np
import pytest

from frontends import tf


def test_to_dense():
    sparse = tf.SparseTensor([[0, 1], [1, 0]], [3, 4], [2, 2])
    assert tf.sparse.to_dense(sparse, default_value=-1).tolist() == [[-1, 3], [4, -1]]
    assert tf.sparse_tensor_to_dense(sparse).tolist() == [[0, 3], [4, 0]]
    texts = tf.SparseTensor([[1]], [b"a"], [2])
    assert tf.sparse.to_dense(texts).tolist() == [b"", b"a"]


@pytest.mark.parametrize(
    ("indices", "reason"),
    [([[1], [0]], "out of order"), ([[0], [0]], "repeated"), ([[0], [5]], "out of bounds")],
)
def test_indices_are_checked(indices, reason):
    with pytest.raises(ValueError, match=reason):
        tf.sparse.to_dense(tf.SparseTensor(indices, [1, 2], [3]))


def test_order():
    sparse = tf.SparseTensor([[1, 0], [0, 2], [0, 1]], [1, 2, 3], [2, 3])
    assert tf.sparse.reorder(sparse).values.tolist() == [3, 2, 1]
    assert tf.sparse.to_dense(sparse, validate_indices=False).tolist() == [[0, 3, 2], [1, 0, 0]]


def test_from_dense():
    array = np.array([[0, 1], [2, 0]])
    sparse = tf.sparse.from_dense(array)
    assert sparse.indices.tolist() == [[0, 1], [1, 0]]
    np.testing.assert_array_equal(tf.sparse.to_dense(sparse), array)
    assert tf.sparse.from_dense(np.array(["", "b"])).values.tolist() == [b"b"]


def test_what_is_dense_already():
    with pytest.raises(TypeError, match=r"expected a tf\.SparseTensor"):
        tf.sparse.to_dense(np.zeros(2))


def test_what_layers_of_keras_give_becomes_dense():
    layer = tf.keras.layers.CategoryEncoding(num_tokens=3, output_mode="count", sparse=True)
    assert tf.sparse.to_dense(layer(tf.constant([[2, 0, 2]]))).tolist() == [[1, 0, 2]]
