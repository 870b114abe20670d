"""Functions that move and compare texts in programs: they do what they do on the host."""

import jax
import numpy as np
import pytest

from frontends import tf
from frontends.tf.feature_column import Texts

WORDS = np.array([["fig", "pear", ""], ["plum", "漢字", "fig"]])
FUNCTIONS = {
    "identity": lambda x: tf.identity(x),
    "stop_gradient": lambda x: tf.stop_gradient(x),
    "reshape": lambda x: tf.reshape(x, [3, -1]),
    "reshape flat": lambda x: tf.reshape(x, -1),
    "expand_dims": lambda x: tf.expand_dims(x, -1),
    "expand_dims first": lambda x: tf.expand_dims(x, 0),
    "squeeze": lambda x: tf.squeeze(tf.expand_dims(x, -1)),
    "squeeze axis": lambda x: tf.squeeze(tf.expand_dims(x, 1), axis=[1]),
    "squeeze nothing": lambda x: tf.squeeze(x),
    "gather": lambda x: tf.gather(x, [1, 0, 1]),
    "gather columns": lambda x: tf.gather(x, [2, 0], axis=-1),
    "concat": lambda x: tf.concat([x, x], -1),
    "concat with others": lambda x: tf.concat([x, [["a", "b", "c"]]], 0),
    "stack": lambda x: tf.stack([x, x], axis=-1),
    "slice": lambda x: tf.slice(x, [0, 1], [-1, 2]),
    "tile": lambda x: tf.tile(x, [1, 2]),
    "transpose": lambda x: tf.transpose(x),
    "transpose perm": lambda x: tf.transpose(x, [1, 0]),
    "where": lambda x: tf.where(np.array([[True, False, True]] * 2), x, tf.tile([["no"]], [2, 3])),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_entries_are_moved_as_on_the_host(name):
    found = jax.jit(FUNCTIONS[name])(Texts.of(WORDS))
    expected = Texts.of(np.asarray(FUNCTIONS[name](WORDS)))
    np.testing.assert_array_equal(found.words, expected.words)


def test_texts_are_compared_and_counted():
    @jax.jit
    def found(x):
        return tf.equal(x, "fig"), tf.not_equal("fig", x), tf.shape(x), tf.size(x), tf.rank(x)

    equal, unequal, *sizes = found(Texts.of(WORDS))
    np.testing.assert_array_equal(equal, WORDS == "fig")
    np.testing.assert_array_equal(unequal, WORDS != "fig")
    assert [one.tolist() for one in sizes] == [[2, 3], 6, 2]


def test_what_needs_the_texts_says_where_they_are():
    for function in (tf.strings.length, tf.compat.v1.string_to_hash_bucket):
        options = (3,) if "hash" in function.__name__ else ()
        with pytest.raises(ValueError, match=r"needs texts.*fingerprints.*dataset.map\(lambda"):
            jax.jit(lambda x, f=function, o=options: f(x, *o))(Texts.of(WORDS))
    with pytest.raises(TypeError, match="these are texts"):
        jax.jit(tf.reduce_sum)(Texts.of(WORDS))
