"""Blocks of arrays; recorded cases hold the numbers to TensorFlow's."""

import numpy as np
import pytest

from frontends import tf


def test_blocks_are_put_together_again():
    x = np.arange(12, dtype=np.float32).reshape(1, 3, 4, 1)
    cut = tf.space_to_batch(x, [2, 2], [[0, 1], [0, 0]])
    assert tf.batch_to_space(cut, [2, 2], [[0, 1], [0, 0]]).tolist() == x.tolist()


def test_shapes_that_only_the_program_knows():
    part = tf.function(lambda x, p: tf.dynamic_partition(x, p, 2))
    with pytest.warns(UserWarning, match="runs as Python"):
        found = part(tf.constant([1.0, 2.0]), tf.constant([1, 1]))
    assert [one.tolist() for one in found] == [[], [1.0, 2.0]]
    with pytest.raises(ValueError, match=r"Keep the shape: tf\.where"):
        tf.distribute.get_strategy().run(
            lambda p: tf.dynamic_partition(tf.constant([1.0]), p, 2), (tf.constant([1]),)
        )
