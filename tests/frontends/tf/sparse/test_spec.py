"""Specs of sparse tensors."""

from frontends import tf


def test_specs_fit_values_and_specs():
    value = tf.SparseTensor([[0, 1]], [3], [2, 2])
    spec = tf.SparseTensorSpec([None, 2], tf.int32)
    assert spec.is_compatible_with(value)
    assert spec.is_compatible_with(tf.SparseTensorSpec([5, 2], tf.int32))
    assert not spec.is_compatible_with(tf.TensorSpec([2, 2]))
    assert tf.type_spec_from_value(value).shape.as_list() == [2, 2]
    assert isinstance(spec, tf.TypeSpec)
