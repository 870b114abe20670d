"""Suppression in programs; the recorded results have the numbers."""

import numpy as np
import pytest

from frontends import tf

BOXES = np.array([[0, 0, 1, 1], [0, 0.05, 1, 1.05], [2, 2, 3, 3]], np.float32)
SCORES = np.array([0.5, 0.9, 0.3], np.float32)


def test_the_best_of_overlapping_boxes_is_kept():
    np.testing.assert_array_equal(tf.image.non_max_suppression(BOXES, SCORES, 3), [1, 2])


def test_a_function_that_returns_few_boxes_runs_as_python():
    suppressed = tf.function(lambda x: tf.image.non_max_suppression(x, SCORES, 3))
    with pytest.warns(UserWarning, match="how many boxes are left is known only when the program"):
        found = suppressed(tf.constant(BOXES))
    np.testing.assert_array_equal(found, [1, 2])


def test_a_step_says_which_function_to_use():
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])

    def step(x):
        return tf.image.non_max_suppression(x, SCORES, 3)

    with pytest.raises(
        ValueError, match=r"non_max_suppression_padded\(\.\.\., pad_to_max_output_size=True"
    ):
        strategy.run(step, (tf.constant(BOXES),))


def test_a_program_fills_up():
    padded = tf.function(
        lambda x: tf.image.non_max_suppression_padded(
            x, SCORES, 3, 0.5, pad_to_max_output_size=True
        )
    )
    indices, count = padded(tf.constant(BOXES))
    np.testing.assert_array_equal(indices, [1, 2, 0])
    assert int(count) == 2


def test_no_boxes():
    found = tf.image.non_max_suppression(np.zeros((0, 4), np.float32), np.zeros(0, np.float32), 3)
    assert found.shape == (0,)
