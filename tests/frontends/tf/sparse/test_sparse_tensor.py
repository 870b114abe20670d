"""`tf.SparseTensor`: its parts, and batches of it."""

import numpy as np
import pytest

from frontends import tf


def test_parts():
    sparse = tf.SparseTensor([[0, 1], [2, 0]], [1.5, 2.5], [3, 2])
    assert sparse.indices.numpy().tolist() == [[0, 1], [2, 0]]
    assert (sparse.values.dtype, sparse.dtype) == (np.float32, np.float32)
    assert sparse.dense_shape.tolist() == sparse.shape.as_list() == [3, 2]
    assert tf.SparseTensor([[0]], ["a"], [1]).values.tolist() == [b"a"]
    assert sparse.with_values([1, 2]).values.tolist() == [1, 2]
    assert "dense_shape=[3, 2]" in repr(sparse)


def test_shapes_that_do_not_fit():
    with pytest.raises(ValueError, match="expected indices of shape"):
        tf.SparseTensor([[0, 1]], [1.0, 2.0], [3, 2])
    with pytest.raises(ValueError, match="expected indices of shape"):
        tf.SparseTensor([[0, 1]], [1.0], [3])


def test_no_entries():
    assert tf.sparse.to_dense(tf.SparseTensor([], [], [2, 2])).tolist() == [[0, 0], [0, 0]]


def test_batches_in_a_dataset():
    def sparse(count):
        size = int(count)
        return tf.SparseTensor(np.arange(size)[:, None], np.full(size, size), [size])

    dataset = tf.data.Dataset.range(1, 4).map(sparse)
    (batch,) = dataset.batch(3)
    assert batch.dense_shape.tolist() == [3, 3]
    assert tf.sparse.to_dense(batch).tolist() == [[1, 0, 0], [2, 2, 0], [3, 3, 3]]
    again = [tf.sparse.to_dense(one).tolist() for one in dataset.batch(3).unbatch()]
    assert again == [[1, 0, 0], [2, 2, 0], [3, 3, 3]]
    assert [one.row_count for one in dataset.batch(2)] == [2, 1]


def test_rows_are_those_of_the_batch_in_any_order():
    sparse = tf.SparseTensor([[2, 1], [0, 3], [2, 0]], [1, 2, 3], [4, 5])
    rows = sparse.rows()
    assert [row.indices.tolist() for row in rows] == [[[3]], [], [[1], [0]], []]
    assert [row.values.tolist() for row in rows] == [[2], [], [1, 3], []]
