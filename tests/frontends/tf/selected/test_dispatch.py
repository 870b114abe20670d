"""Functions that count entries; recorded cases hold most of them to TensorFlow's numbers."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from frontends import tf
from frontends.tf.selected.making import masked
from frontends.tf.selected.selection import SelectionError

_X = np.asarray([[1, 2], [3, 4], [5, 6]], np.float32)


def in_program(function):
    """Calls a function in a program, with what a mask takes there."""
    return jax.jit(lambda x, mask: function(masked(x, mask)))(
        jnp.asarray(_X), jnp.asarray([True, False, True])
    )


def test_counts():
    counts = in_program(lambda x: (tf.size(x), tf.shape(x)[0], tf.rank(x), tf.shape(x)[1]))
    assert [int(one) for one in counts] == [4, 2, 2, 2]


def test_means_and_deviations():
    found = in_program(
        lambda x: (
            tf.reduce_mean(x),
            tf.reduce_sum(tf.reduce_mean(x, axis=-1)),
            tf.math.reduce_variance(x, 0),
            tf.reduce_sum(tf.math.reduce_std(x, axis=1)),
            tf.reduce_mean(tf.cast(x, tf.int32), axis=0),
            tf.reduce_sum(tf.zeros_like(x, tf.int32)),
        )
    )
    assert [one.tolist() for one in found] == [3.5, 7, [4, 4], 1, [3, 4], 0]


def test_a_mask_of_a_mask():
    def compute(x):
        first = x[:, 0] > 2
        return tf.reduce_sum(tf.boolean_mask(x, first) * tf.boolean_mask(x, first))

    assert float(in_program(compute)) == 61
    with pytest.raises(SelectionError, match="was not taken likewise"):
        in_program(lambda x: tf.boolean_mask(x, [True, False, True]))


def test_functions_that_cannot():
    with pytest.raises(SelectionError, match=r"tf\.top_k does not work on the entries"):
        in_program(lambda x: tf.math.top_k(x[:, 0], 1))
