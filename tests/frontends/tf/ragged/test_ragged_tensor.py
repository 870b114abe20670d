"""`tf.RaggedTensor`: what differs from TensorFlow's; tests/golden compares with TensorFlow."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf.ragged.ragged_tensor import stacked_rows


def test_a_step_gets_dense_arrays():
    ragged = tf.ragged.constant([[1, 2], [3]])
    with pytest.warns(UserWarning, match="to_tensor"):
        assert tf.function(lambda x: x + 1)(ragged).to_list() == [[2, 3], [4]]
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    dataset = tf.data.Dataset.from_tensor_slices(ragged).batch(2)
    with pytest.raises(TypeError, match="to_tensor"):
        list(strategy.experimental_distribute_dataset(dataset))
    dense = dataset.map(lambda x: x.to_tensor(shape=[None, 3]))
    (batch,) = strategy.experimental_distribute_dataset(dense)
    assert [one.tolist() for one in strategy.experimental_local_results(batch)] == [
        [[1, 2, 0]],
        [[3, 0, 0]],
    ]


def test_errors_say_what_does_not_fit():
    ragged = tf.ragged.constant([[1, 2], [3]])
    with pytest.raises(ValueError, match="must have 2 sizes"):
        ragged.to_tensor(shape=[1, 2, 3])
    with pytest.raises(ValueError, match="less than or equal"):
        ragged.merge_dims(1, 0)


def test_rows_come_apart_and_are_put_together():
    ragged = stacked_rows([np.array([1, 2]), np.array([3])])
    assert ragged.to_list() == [[1, 2], [3]]
    first, *others = ragged.rows()
    assert first.stacked(others).to_list() == [[1, 2], [3]]
