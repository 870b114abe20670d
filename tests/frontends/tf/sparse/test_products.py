"""Products and embeddings in steps; tests/golden compares with TensorFlow."""

import numpy as np
import pytest

from frontends import tf

TABLE = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], np.float32)
IDS = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], np.array([1, 2, 0]), [3, 2])
PADDED = np.array([[1, 2], [-1, -1], [0, -1]])


@pytest.mark.parametrize("combiner", ["sum", "mean", "sqrtn"])
def test_a_step_gets_ids_as_an_array_with_negative_ones_for_none(combiner):
    table = tf.Variable(TABLE)
    strategy = tf.distribute.MirroredStrategy(["CPU:0"])

    def slope(ids):
        with tf.GradientTape() as tape:
            y = tf.nn.safe_embedding_lookup_sparse(table, ids, combiner=combiner)
            loss = tf.reduce_sum(y**2)
        return y, tf.convert_to_tensor(tape.gradient(loss, table))

    sparse, dense = slope(IDS), strategy.run(slope, (tf.constant(PADDED),))
    for one, other in zip(sparse, dense, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)
    assert np.isfinite(np.asarray(dense[1])).all()


def test_rows_without_ids_give_the_default():
    found = tf.nn.safe_embedding_lookup_sparse(TABLE, PADDED, default_id=2)
    np.testing.assert_allclose(found, [[4, 5], [5, 6], [1, 2]])


@pytest.mark.parametrize("combiner", ["sum", "mean", "sqrtn"])
@pytest.mark.parametrize("default_id", [None, 2])
def test_weights_count_alike_in_both_forms(combiner, default_id):
    ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0], [1, 1]], np.array([0, 1, 1, 2]), [2, 2])
    weights = tf.SparseTensor(ids.indices, np.array([1, -1, 0, 0], np.float32), [2, 2])
    safe = tf.nn.safe_embedding_lookup_sparse
    sparse = safe(TABLE, ids, weights, combiner, default_id)
    padded = safe(TABLE, tf.sparse.to_dense(ids), tf.sparse.to_dense(weights), combiner, default_id)
    np.testing.assert_allclose(padded, sparse)
    gives_default = default_id is not None and combiner != "sum"
    np.testing.assert_allclose(sparse[0], [-2, -2] if combiner == "sum" else [1, 2])
    np.testing.assert_allclose(sparse[1], TABLE[2] if gives_default else [0, 0])


def test_only_the_safe_lookup_leaves_out_weights_below_zero():
    found = tf.nn.embedding_lookup_sparse(TABLE, [[0, 1]], [[2.0, -1.0]], "mean")
    np.testing.assert_allclose(found, [[-1, 0]])


def test_arrays_of_ids_need_a_known_combiner():
    with pytest.raises(ValueError, match="combiner must be one of"):
        tf.nn.safe_embedding_lookup_sparse(TABLE, PADDED, combiner="avg")


def test_a_sparse_matrix_is_a_constant_of_a_step():
    sparse = tf.SparseTensor([[0, 1], [1, 2]], np.array([2, 3], np.float32), [2, 3])
    strategy = tf.distribute.MirroredStrategy(["CPU:0"])
    found = strategy.run(lambda x: tf.sparse.sparse_dense_matmul(sparse, x), (tf.constant(TABLE),))
    np.testing.assert_allclose(found, [[6, 8], [15, 18]])


def test_one_matrix_is_dense():
    with pytest.raises(TypeError, match="must be dense"):
        tf.sparse.sparse_dense_matmul(IDS, IDS)


def test_ids_have_one_ragged_dimension():
    ids = tf.ragged.constant([[[0, 1], [2]], [[1]]])
    with pytest.raises(ValueError, match=r"Fix: ids\.merge_dims\(0, 1\)"):
        tf.nn.embedding_lookup_sparse(TABLE, ids)
    found = tf.nn.embedding_lookup_sparse(TABLE, ids.merge_dims(0, 1))
    np.testing.assert_allclose(found, [[2, 3], [5, 6], [3, 4]])
