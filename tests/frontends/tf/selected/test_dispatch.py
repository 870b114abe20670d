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


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int8", "uint8", "int16"])
def test_means_of_few_bits_are_of_many(dtype):
    def compute(x, mask):
        taken = masked(x, mask)
        return tf.reduce_mean(taken), tf.reduce_mean(masked(jnp.ones_like(x), mask), axis=0)

    x = jnp.full([70_000], 100, dtype)
    mean, one = jax.jit(compute)(x, jnp.ones(x.shape, bool))
    assert mean.dtype == one.dtype == x.dtype
    assert (int(mean), int(one)) == (100, 1)


def test_a_deviation_of_few_bits():
    x = 600 * np.asarray([1, -1] * 50, np.float16)
    deviation = jax.jit(lambda x, mask: tf.math.reduce_std(tf.multiply(masked(x, mask), 0.1)))
    assert deviation(x, np.ones(100, bool)).tolist() == pytest.approx(60, rel=1e-3)


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


@pytest.mark.parametrize(("axis", "shape"), [(0, [3, -1]), (0, [3, 3]), (1, [-1, 3]), (1, [9])])
def test_a_shape_gives_no_size_to_what_was_taken(axis, shape):
    taken = jax.jit(lambda x, mask: tf.reduce_sum(tf.reshape(masked(x, mask, axis), shape)))
    with pytest.raises(SelectionError, match=r"tf\.reshape, where an axis gets the size [39]"):
        taken(jnp.ones([3, 3]), jnp.asarray([True, False, True]))


def test_a_shape_with_a_count():
    with pytest.raises(SelectionError, match="write -1"):
        in_program(lambda x: tf.reshape(x, [tf.shape(x)[0] * 2]))
    assert in_program(lambda x: tf.reduce_sum(tf.reshape(x, [-1, 2]), 0)).tolist() == [6, 8]


@pytest.mark.parametrize(
    ("options", "sums", "products"),
    [
        ({}, [1, 6], [1, 5]),
        ({"reverse": True}, [6, 5], [5, 5]),
        ({"exclusive": True}, [0, 1], [1, 1]),
        ({"exclusive": True, "reverse": True}, [5, 0], [5, 1]),
    ],
)
def test_cumulative_functions(options, sums, products):
    weights = jnp.asarray([1.0, 10.0])

    def compute(x):
        both = (function(x[:, 0], **options) for function in (tf.cumsum, tf.math.cumprod))
        return [tf.reduce_sum(10.0 ** tf.cumsum(x[:, 0] * 0 + 1) * one / 10) for one in both]

    found = in_program(compute)
    assert [float(one) for one in found] == [sums @ weights, products @ weights]
