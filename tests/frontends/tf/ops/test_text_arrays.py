"""Functions that move entries, on texts; tests/golden compares with TensorFlow."""

import pytest

from frontends import tf


def test_a_text_is_no_number():
    with pytest.raises(ValueError, match=r"Fix: tf\.strings\.to_number"):
        tf.cast(tf.constant(["1"]), tf.float32)
    assert tf.cast(tf.constant(["1"]), tf.string).tolist() == [b"1"]


def test_more_functions():
    texts = tf.constant(["a", "b"])
    assert tf.repeat(texts, 2).tolist() == [b"a", b"a", b"b", b"b"]
    assert tf.broadcast_to(tf.constant("a"), [2]).tolist() == [b"a", b"a"]
    assert tf.split(texts, [1, 1])[1].tolist() == [b"b"]
    with pytest.raises(ValueError, match="batch_dims"):
        tf.gather(tf.constant([["a"]]), [[0]], batch_dims=1)
