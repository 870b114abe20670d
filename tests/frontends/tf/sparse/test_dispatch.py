"""Functions of `tf` on sparse tensors."""

import pytest

from frontends import tf


def test_entries_and_sizes():
    sparse = tf.SparseTensor([[0, 1]], [-1.5], [2, 3])
    assert tf.abs(sparse).values.tolist() == [1.5]
    assert tf.size(sparse) == 6
    assert tf.rank(sparse) == 2
    assert tf.shape(sparse, out_type=tf.int64).tolist() == [2, 3]
    with pytest.raises(TypeError):
        tf.exp(sparse)  # of what is missing, too, it would be 1
