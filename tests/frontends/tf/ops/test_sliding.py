"""Windows in any number of axes; recorded cases hold the numbers to TensorFlow's."""

import numpy as np
import pytest

from frontends import tf


def test_places_of_the_largest_numbers_go_on_in_the_next_image():
    x = np.arange(8, dtype=np.float32).reshape(2, 2, 2, 1)
    pool = tf.nn.max_pool_with_argmax
    assert pool(x, 2, 2, "VALID")[1].ravel().tolist() == [3, 3]
    assert pool(x, 2, 2, "VALID", include_batch_in_index=True)[1].ravel().tolist() == [3, 7]


def test_channels_may_come_first():
    x = np.arange(6, dtype=np.float32).reshape(1, 1, 6)
    assert tf.nn.max_pool1d(x, 2, 2, "VALID", "NCW").ravel().tolist() == [1, 3, 5]
    with pytest.raises(ValueError, match="either AVG or MAX"):
        tf.nn.pool(x, [2], "MIN")


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_places_of_what_is_not_larger_than_anything(padding):
    no, low = np.nan, -np.inf  # five windows beside each other
    x = [[low, low, no, 1, 1, no, low, no, no, no], [low, low, 2, 3, 3, 4, low, low, no, no]]
    image = np.array(x, np.float32)[None, ..., None]
    largest, places = tf.nn.max_pool_with_argmax(image, 2, 2, padding)
    np.testing.assert_array_equal(largest.ravel(), [low, no, 4, low, no])
    assert places.ravel().tolist() == [0, 2, 15, 6, 8]
