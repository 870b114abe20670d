"""Dimensions of ragged tensors made one."""

import pytest

from frontends import tf

ROWS = [[[[1], [2]], []], [[[3], [4]]]]


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        (0, 1, [[[1], [2]], [], [[3], [4]]]),
        (1, 2, [[[1], [2]], [[3], [4]]]),
        (1, 3, [[1, 2], [3, 4]]),
        (2, 3, [[[1, 2], []], [[3, 4]]]),
        (-2, -1, [[[1, 2], []], [[3, 4]]]),
        (1, 1, ROWS),
    ],
)
def test_the_rows_of_several_dimensions(first, last, expected):
    ragged = tf.ragged.constant(ROWS, ragged_rank=2)
    assert ragged.merge_dims(first, last).to_list() == expected


def test_no_ragged_dimension_is_left():
    ragged = tf.ragged.constant(ROWS, ragged_rank=2)
    assert ragged.merge_dims(0, 3).tolist() == [1, 2, 3, 4]
