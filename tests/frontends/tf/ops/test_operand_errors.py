"""Errors of functions whose operands do not fit."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from frontends import tf
from frontends.tf.ops.operand_errors import OperandError, describe, explained


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda x: tf.add(x, tf.ones([4])), r"tf.add: .*float32\[2, 3\], float32\[4\]"),
        (lambda x: tf.maximum(x, tf.ones([4])), r"tf.maximum: .*float32\[4\]"),
        (
            lambda x: tf.concat([x, tf.ones([2, 4])], 0),
            r"tf.concat: .*\[float32\[2, 3\], float32\[2, 4\]\], 0",
        ),
        (lambda x: tf.concat([x, tf.ones([3])], 0), "tf.concat: .*different numbers of dimensions"),
        (lambda x: tf.stack([x, tf.ones([3])]), r"tf.stack: .*\(2, 3\), \(3,\)"),
        (lambda x: tf.transpose(x, [0]), "tf.transpose: .*permutation"),
        (lambda x: tf.tensordot(x, x, 1), "tf.tensordot: "),
        (lambda x: tf.matmul(x, x), "tf.matmul: "),
        (lambda x: tf.reshape(x, [4]), "tf.reshape: "),
        (lambda x: tf.argmax(x, axis=2), "tf.argmax: "),
        (lambda x: tf.add_n([x, tf.ones([4])]), r"float32\[4\]"),
        (lambda x: tf.add(x, "a"), "tf.add: expected numbers, got .*, 'a'"),
        (lambda x: tf.sqrt("a"), "tf.sqrt: expected numbers, got 'a'"),
        (lambda x: tf.nn.relu(["a"]), "tf.nn.relu: expected numbers"),
        (lambda x: tf.tile(x, [2]), "tf.tile: expected multiples for each dimension"),
        (lambda x: tf.pad(x, [[1, 1]]), "tf.pad: expected paddings for each dimension"),
        (lambda x: tf.unstack(x, num=3), "tf.unstack: expected 3 entries along axis 0, got 2"),
    ],
)
def test_scripts_catch_them(function, text, compiled):
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        (tf.function(function) if compiled else function)(tf.ones([2, 3]))


def test_only_errors_of_jax_are_made_anew():
    with pytest.raises(TypeError) as found:
        jax.lax.add(jnp.ones(2), jnp.ones(3))
    made = explained("tf.f", found.value, [1])
    assert isinstance(made, ValueError)
    assert isinstance(made, TypeError)
    assert str(made).startswith("tf.f: add got incompatible shapes")
    assert str(made).endswith("(3,). The arguments are 1.")
    for other in (ValueError("ours"), TypeError("ours"), OperandError("ours")):
        assert explained("tf.f", other, []) is None
    # Such a class says what the trouble is with a traced value.
    with pytest.raises(jax.errors.TracerArrayConversionError):
        jax.jit(lambda x: tf.reshape(x, x))(jnp.ones(2, int))


def test_descriptions():
    assert describe(np.ones([2, 1])) == "float64[2, 1]"
    assert describe([jnp.ones(3), 1.5, "a", None, 5]) == "[float32[3], 1.5, 'a', None, ...]"
    assert describe(tf.Variable([1.0])) == "float32[1]"
    assert describe(tf.keras.Variable([1.0])) == "float32[1]"
    assert len(describe("long" * 100)) == 60


def test_an_option_is_no_text_among_numbers():
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be a multiple") as error:
        tf.nn.conv2d(tf.ones([1, 4, 4, 3]), tf.ones([2, 2, 1, 4]), 1, "SAME")
    assert "Texts" not in str(error.value)
