"""Changes between sequences; recorded cases hold the numbers to TensorFlow's."""

import numpy as np

from frontends import tf


def test_a_sequence_without_truth_is_infinitely_far():
    one = tf.SparseTensor([[0, 0]], [1], [2, 1])
    none = tf.SparseTensor(np.zeros((0, 2), np.int64), np.zeros(0, np.int64), [2, 1])
    assert tf.edit_distance(one, none).tolist() == [np.inf, 0]
