"""Functions of `tf` on ragged tensors; tests/golden compares with TensorFlow."""

import pytest

from frontends import tf

ROWS = tf.ragged.constant([[1, 2], [], [3]])


def test_errors_say_what_does_not_fit():
    with pytest.raises(ValueError, match="batch_dims must be 0, or 1"):
        tf.gather(ROWS, [0], batch_dims=2)
    with pytest.raises(ValueError, match="multiples for each of 2"):
        tf.tile(ROWS, [1])
    with pytest.raises(ValueError, match="must have an axis"):
        tf.squeeze(ROWS)
    with pytest.raises(ValueError, match="of another length than 1"):
        tf.squeeze(ROWS, 1)


def test_where_broadcasts():
    assert tf.where(ROWS > 1, ROWS, 0).to_list() == [[0, 2], [], [3]]
