"""`tf.RaggedTensor`: what differs from TensorFlow's, and random rows; tests/golden compares with TensorFlow."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontends import tf

ROWS = st.lists(st.lists(st.integers(-9, 9), max_size=4), min_size=1, max_size=5)


@given(ROWS, st.integers(-5, 5), st.integers(-5, 5), st.sampled_from([-2, -1, 1, 2]))
def test_slices_are_those_of_lists(rows, start, stop, step):
    ragged = tf.RaggedTensor.from_row_lengths(
        np.array([x for row in rows for x in row], int), [len(row) for row in rows]
    )
    assert ragged.to_list() == rows
    assert ragged[start:stop:step].to_list() == rows[start:stop:step]
    assert ragged[:, start:stop:step].to_list() == [row[start:stop:step] for row in rows]


def test_a_step_gets_dense_arrays():
    ragged = tf.ragged.constant([[1, 2], [3]])
    with pytest.raises(TypeError, match="to_tensor"):
        tf.function(lambda x: x + 1)(ragged)
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
    with pytest.raises(ValueError, match="must be a vector"):
        tf.RaggedTensor.from_row_splits([1], [[0, 1]])
    with pytest.raises(TypeError, match="one array for each level"):
        tf.RaggedTensor.from_nested_row_splits([1], np.array([0, 1]))


CUBE = np.arange(24).reshape(2, 3, 4)


@pytest.mark.parametrize(
    ("lengths", "ragged_rank", "expected"),
    [  # TensorFlow's, which takes no list of scalar tensors
        (
            [1, 2, 0, 3, 4, 1],
            2,
            [[[0], [4, 5], []], [[12, 13, 14], [16, 17, 18, 19], [20]]],
        ),
        ([tf.constant(0), tf.constant(1)], 1, [[], [[12, 13, 14, 15]]]),
    ],
)
def test_lengths_of_the_innermost_rows(lengths, ragged_rank, expected):
    found = tf.RaggedTensor.from_tensor(CUBE, lengths, ragged_rank=ragged_rank)
    assert found.to_list() == expected


@pytest.mark.parametrize(
    ("lengths", "message"),
    [([1, 2], "6 rows need as many lengths, got 2"), (([1, 2],), "ragged_rank must be 1")],
)
def test_lengths_fit_the_ragged_rank(lengths, message):
    with pytest.raises(ValueError, match=message):
        tf.RaggedTensor.from_tensor(CUBE, lengths, ragged_rank=2)


def test_many_new_axes_take_no_more_time_each():
    found = tf.ragged.constant([[1, 2], [3]])[(None,) * 40]
    assert found.ragged_rank == 41
