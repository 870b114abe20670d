"""Combining the rows of segments."""

import numpy as np
import pytest

from frontends import tf

ROWS = np.array([[1, 2], [3, 4], [5, 7]], np.float32)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("sum", [[4, 6], [0, 0], [5, 7]]),
        ("mean", [[2, 3], [0, 0], [5, 7]]),
        ("max", [[3, 4], [0, 0], [5, 7]]),
        ("min", [[1, 2], [0, 0], [5, 7]]),
        ("prod", [[3, 8], [0, 0], [5, 7]]),
    ],
)
def test_sorted(name, expected):
    function = getattr(tf.math, f"segment_{name}")
    np.testing.assert_allclose(function(ROWS, [0, 0, 2]), expected)
    assert function.__name__ == f"segment_{name}"


def test_unsorted():
    low, high = np.finfo(np.float32).min, np.finfo(np.float32).max
    ids = [2, 0, 2]
    for name, expected in {
        "sum": [[3, 4], [0, 0], [6, 9]],
        "mean": [[3, 4], [0, 0], [3, 4.5]],
        "max": [[3, 4], [low, low], [5, 7]],
        "min": [[3, 4], [high, high], [1, 2]],
        "prod": [[3, 4], [1, 1], [5, 14]],
        "sqrt_n": [[3, 4], [0, 0], [6 / 2**0.5, 9 / 2**0.5]],
    }.items():
        function = getattr(tf.math, f"unsorted_segment_{name}")
        for run in (function, tf.function(function)):
            np.testing.assert_allclose(run(ROWS, ids, 3), expected, rtol=1e-6)
    assert tf.math.unsorted_segment_sum([1, 2, 3], [0, -1, 0], 1).numpy().tolist() == [4]
    assert tf.math.unsorted_segment_sum(ROWS, [[0, 1], [1, 1], [0, 0]], 2).numpy().tolist() == [
        13,
        9,
    ]


def test_infinite_rows_stay_infinite():
    rows, inf = [np.inf, -np.inf, -np.inf], np.inf
    limits = np.finfo(np.float32)
    found = tf.math.unsorted_segment_max(rows, [0, 0, 1], 3)
    assert found.numpy().tolist() == [inf, -inf, limits.min]
    found = tf.math.unsorted_segment_min(np.negative(rows), [0, 0, 1], 3)
    assert found.numpy().tolist() == [-inf, inf, limits.max]


def test_the_number_of_segments_must_be_known():
    with pytest.raises(ValueError, match="num_segments is known only when the program runs"):
        tf.function(tf.math.unsorted_segment_sum)(tf.constant(ROWS), [0, 0, 1], tf.constant(2))
    with pytest.raises(ValueError, match="unsorted_segment_sum"):
        tf.function(lambda ids: tf.math.segment_sum(ROWS, ids))(tf.constant([0, 0, 1]))
