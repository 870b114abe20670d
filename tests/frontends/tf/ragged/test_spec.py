"""`tf.RaggedTensorSpec`."""

import pytest

from frontends import tf


def test_spec():
    spec = tf.RaggedTensorSpec([2, None], tf.string)
    assert spec.ragged_rank == 1
    assert spec.is_compatible_with(tf.ragged.constant([["a"], []]))
    assert not spec.is_compatible_with(tf.ragged.constant([["a"]]))
    assert not spec.is_compatible_with(tf.TensorSpec([2, None], tf.string))
    with pytest.raises(ValueError, match="ragged_rank or a shape"):
        tf.RaggedTensorSpec()
