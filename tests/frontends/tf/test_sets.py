"""`tf.sets`: what is no set; tests/golden compares with TensorFlow."""

import pytest

from frontends import tf


def test_what_is_no_set():
    with pytest.raises(TypeError, match="Expected `SparseTensor`"):
        tf.sets.size([[1]])
    with pytest.raises(ValueError, match="two dimensions"):
        tf.sets.union([1], [2])
    with pytest.raises(TypeError, match="Types don't match"):
        tf.sets.union([[1]], [["a"]])
