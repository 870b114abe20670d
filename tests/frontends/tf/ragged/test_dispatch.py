"""Functions of `tf` on ragged tensors; tests/golden compares with TensorFlow."""

import numpy as np
import pytest

from frontends import tf

ROWS = tf.ragged.constant([[1, 2], [], [3]])


def test_errors_say_what_does_not_fit():
    with pytest.raises(ValueError, match="batch_dims must be 0, or 1"):
        tf.gather(ROWS, [0], batch_dims=2)
    with pytest.raises(ValueError, match=r"tf\.gather: indices\[1\] = 3 is not in \[0, 3\)"):
        tf.gather(ROWS, [0, 3])
    with pytest.raises(ValueError, match="multiples for each of 2"):
        tf.tile(ROWS, [1])
    with pytest.raises(ValueError, match="must have an axis"):
        tf.squeeze(ROWS)
    with pytest.raises(ValueError, match="of another length than 1"):
        tf.squeeze(ROWS, 1)


DENSE_INSIDE = tf.RaggedTensor.from_row_splits(np.arange(12).reshape(4, 3), [0, 1, 4])


@pytest.mark.parametrize(
    ("call", "expected"),
    [  # TensorFlow's
        (lambda: tf.gather(DENSE_INSIDE, [0, 2], axis=2), [[[0, 2]], [[3, 5], [6, 8], [9, 11]]]),
        (lambda: tf.gather(DENSE_INSIDE, [0, 2], axis=-1), [[[0, 2]], [[3, 5], [6, 8], [9, 11]]]),
        (lambda: tf.gather(DENSE_INSIDE, [1], axis=-3), [[[3, 4, 5], [6, 7, 8], [9, 10, 11]]]),
        (lambda: tf.boolean_mask(ROWS, [True, False, True], axis=0), [[1, 2], [3]]),
        (lambda: tf.reverse(ROWS, [-1]), [[2, 1], [], [3]]),
        (lambda: tf.squeeze(ROWS[:1], [-2]), [1, 2]),
    ],
)
def test_axes(call, expected):
    found = call()
    assert (found.to_list() if isinstance(found, tf.RaggedTensor) else found.tolist()) == expected


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: tf.gather(DENSE_INSIDE, [0], axis=3),
            r"axis=3 out of bounds: expected -3<=axis<3",
        ),
        (lambda: tf.gather(DENSE_INSIDE, [0], axis=1), "that of a dense dimension, got 1"),
        (lambda: tf.reverse(ROWS, [2]), "axis=2 out of bounds: expected -2<=axis<2"),
        (lambda: tf.squeeze(ROWS, [-3]), "axis=-3 out of bounds"),
        (lambda: tf.boolean_mask(ROWS, [True, False, True], axis=1), "axis must be 0, got 1"),
        (lambda: tf.where(ROWS > 1, ROWS, ROWS[::-1]), "identical ragged splits"),
    ],
)
def test_wrong_axes_and_rows(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_where_broadcasts():
    assert tf.where(ROWS > 1, ROWS, 0).to_list() == [[0, 2], [], [3]]
