"""Operations that recorded cases (tests/golden) leave out, and those that cannot be done."""

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


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: tf.reduce_sum(tf.transpose(x), axis=1), [6, 8]),
        (lambda x: tf.reduce_sum(tf.tile(x, [1, 2]), axis=0), [6, 8, 6, 8]),
        (lambda x: tf.reduce_sum(tf.split(x, 2, axis=1)[1]), 8),
        (lambda x: tf.reduce_sum(tf.unstack(x, axis=1)[0]), 6),
        (lambda x: tf.reduce_sum(tf.reshape(x, [-1, 2, 1]), axis=0), [[6], [8]]),
        (lambda x: tf.reduce_prod(tf.math.cumprod(x, axis=0), axis=0), [5, 24]),
        (lambda x: tf.argmin(x - tf.constant([[3.0, 9.0]]), axis=0), [0, 0]),
        (lambda x: tf.reduce_sum(tf.einsum("ij,jk->ik", x, tf.ones([2, 3]))), 42),
        (lambda x: tf.reduce_sum(tf.gather(x, [1], axis=1), axis=0), [8]),
        (lambda x: tf.reduce_sum(tf.nn.relu(x - 4.0)), 3),
        (lambda x: tf.reduce_min(tf.cast(x, tf.int32)), 1),
        (lambda x: tf.reduce_all(x > 0), True),
    ],
)
def test_operations(function, expected):
    assert in_program(function).tolist() == expected


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (lambda x: tf.tile(x, [2, 1]), "repeats|a part"),
        (lambda x: tf.reshape(x, [2, -1]), "divides"),
        (lambda x: tf.gather(x, [0]), "takes entries"),
        (lambda x: tf.squeeze(x[None, :1], 0), "a part"),
        (lambda x: tf.unstack(x), "a part"),
        (lambda x: tf.sort(x, axis=0), "does not work"),
    ],
)
def test_what_cannot_be_done(function, why):
    with pytest.raises(SelectionError, match=why):
        in_program(function)
