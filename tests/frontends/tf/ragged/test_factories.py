"""How ragged tensors are made; tests/golden compares with TensorFlow."""

import numpy as np
import pytest

from frontends import tf

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


def test_errors_say_what_does_not_fit():
    with pytest.raises(ValueError, match="must be a vector"):
        tf.RaggedTensor.from_row_splits([1], [[0, 1]])
    with pytest.raises(TypeError, match="one array for each level"):
        tf.RaggedTensor.from_nested_row_splits([1], np.array([0, 1]))
