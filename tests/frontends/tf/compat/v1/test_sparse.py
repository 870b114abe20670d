"""TensorFlow 1's functions of sparse tensors."""

import pytest

from frontends import tf


def test_old_names_of_parameters():
    sparse = tf.SparseTensor([[0, 1]], [3], [1, 2])
    joined = tf.sparse_concat(sp_inputs=[sparse, sparse], concat_dim=0)
    assert joined.dense_shape.tolist() == [2, 2]
    assert tf.sparse_add(sparse, sparse, thresh=9).values.tolist() == []
    assert tf.sparse_reduce_max(sparse, reduction_axes=1).tolist() == [3]


def test_texts():
    assert tf.sparse_to_dense([1], [3], ["a"], "").tolist() == [b"", b"a", b""]
    assert tf.sparse_to_dense([1], [2], ["a"]).tolist() == [b"", b"a"]


@pytest.mark.parametrize(("where", "reason"), [([2, 1], "out of order"), ([5], "out of bounds")])
def test_places_are_checked(where, reason):
    with pytest.raises(ValueError, match=reason):
        tf.sparse_to_dense(where, [3], 1)


def test_value():
    value = tf.SparseTensorValue([[0]], [1.5], [2])
    assert tf.sparse.to_dense(tf.SparseTensor.from_value(value)).tolist() == [1.5, 0.0]


def test_the_module_has_the_names_of_today_too():
    assert tf.compat.v1.sparse.to_dense is tf.sparse.to_dense
    assert tf.compat.v1.sparse.add is tf.sparse_add
    with pytest.raises(AttributeError, match=r"tf.compat.v1.sparse.nothing is not part"):
        tf.compat.v1.sparse.nothing  # noqa: B018
