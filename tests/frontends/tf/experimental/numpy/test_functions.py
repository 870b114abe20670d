"""NumPy's names; recorded cases hold the numbers to TensorFlow's."""

from frontends import tf

np_ = tf.experimental.numpy


def test_lists_and_variables_are_arrays():
    assert np_.sum([1, 2]) == 3
    assert np_.add(tf.Variable([1.0]), [2.0]).tolist() == [3]
    assert np_.concatenate([tf.Variable([1.0]), [2.0]]).tolist() == [1, 2]
