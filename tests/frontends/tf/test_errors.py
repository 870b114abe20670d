"""`tf.errors`: a loop that reads to the end of its iterator, as scripts have it."""

import numpy as np
import pytest

from frontends import tf


def test_a_loop_to_the_end_of_an_iterator():
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    dataset = tf.data.Dataset.from_tensor_slices(np.arange(3.0)).batch(2)
    iterator, seen = iter(strategy.experimental_distribute_dataset(dataset)), 0
    try:
        while True:
            iterator.get_next()
            seen += 1
    except tf.errors.OutOfRangeError:
        assert seen == 2


def test_invalid_arguments():
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.Variable(1.0).assign([1.0, 2.0])
