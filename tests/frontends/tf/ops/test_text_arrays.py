"""Functions that move entries, on texts; tests/golden compares with TensorFlow."""

import jax
import numpy as np
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


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: tf.ensure_shape(x, [3]), "expected shape"),
        (lambda x: tf.slice(x, [0], [3]), "is not in an array"),
        (lambda x: tf.slice(x, [0, 0], [1, 1]), "each of 1 dimensions"),
    ],
)
def test_wrong_shapes_and_blocks(call, message):
    with pytest.raises(ValueError, match=message):
        call(tf.constant(["a", "b"]))


def test_right_shapes_and_blocks():
    texts = tf.constant(["a", "b"])
    assert tf.ensure_shape(texts, [None]).shape == (2,)
    assert tf.slice(texts, [1], [-1]).tolist() == [b"b"]


def test_a_program_chooses_texts_by_numbers():
    @jax.jit
    def names(places):
        return tf.gather(tf.constant(["no", "yes"]), places)

    found = names(np.int32([[1], [0]]))
    assert (found.shape, np.asarray(found).tolist()) == ((2, 1), [[b"yes"], [b"no"]])
