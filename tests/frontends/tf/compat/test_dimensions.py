"""`tf.compat`'s functions for sizes; the numbers are TensorFlow's."""

from frontends import tf


def test_a_size_is_a_number_or_an_object():
    shape = tf.TensorShape([None, 3])
    assert [tf.compat.dimension_value(size) for size in (*shape, *shape.dims)] == [None, 3, None, 3]
    assert tf.compat.dimension_value(tf.ones([2]).shape[0]) == 2
    assert tf.compat.dimension_at_index(shape, -1).value == 3
    assert tf.compat.dimension_at_index(tf.TensorShape(None), 2).value is None
