"""Reductions of random ragged tensors, against lists; tests/golden compares with TensorFlow."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontends import tf

DEEP = st.lists(
    st.lists(st.lists(st.integers(-9, 9), max_size=3), max_size=3), min_size=1, max_size=3
)


@given(DEEP)
def test_sums(rows):
    ragged = tf.ragged.constant(rows, dtype=tf.int32, ragged_rank=2)
    assert tf.reduce_sum(ragged, axis=2).to_list() == [[sum(x) for x in row] for row in rows]
    flat = [[sum(x) for x in zip(*_padded(row), strict=True)] for row in rows]
    assert tf.reduce_sum(ragged, axis=1).to_list() == flat
    assert tf.reduce_sum(ragged, axis=[1, 2]).tolist() == [sum(map(sum, row)) for row in rows]


def _padded(row):
    longest = max(map(len, row), default=0)
    return [[*x, *[0] * (longest - len(x))] for x in row]


# Of TensorFlow: along the dimensions 0 and 1.
_INNER = tf.ragged.constant([[[1.0, 2], [3.0]], [], [[4.0, 5, 6]]])
_EMPTY_ROWS = tf.ragged.constant([[[1.0, 2], []], [[]]])
_NO_ROWS = tf.ragged.constant([], ragged_rank=2, dtype=tf.float32)
_ROWS_WITHOUT_ENTRIES = tf.ragged.constant([[], []], ragged_rank=2, dtype=tf.float32)


@pytest.mark.parametrize(
    ("function", "value", "along_0", "along_1"),
    [
        (tf.reduce_sum, _INNER, [[5, 7, 6], [3]], [[4, 2], [], [4, 5, 6]]),
        (tf.reduce_mean, _INNER, [[2.5, 3.5, 6], [3]], [[2, 2], [], [4, 5, 6]]),
        (tf.reduce_max, _INNER, [[4, 5, 6], [3]], [[3, 2], [], [4, 5, 6]]),
        (tf.math.reduce_variance, _INNER, [[2.25, 2.25, 0], [0]], [[1, 0], [], [0, 0, 0]]),
        (tf.reduce_max, _EMPTY_ROWS, [[1, 2], []], [[1, 2], []]),
        (tf.reduce_mean, _NO_ROWS, [], []),
        (tf.math.reduce_variance, _ROWS_WITHOUT_ENTRIES, [], [[], []]),
    ],
)
def test_reductions_of_inner_rows(function, value, along_0, along_1):
    for axis, expected in enumerate((along_0, along_1)):
        found = function(value, axis=axis)
        assert found.to_list() == expected
        assert found.dtype == tf.float32


def test_no_variance_is_below_zero():
    rows = tf.ragged.constant([[0.2] * 7, [1.3] * 6, [1.0, 3.0]], dtype=tf.float32)
    assert (np.asarray(tf.math.reduce_variance(rows, axis=1)) >= 0).all()
    assert np.isfinite(tf.math.reduce_std(rows, axis=1)).all()
