"""Entries of several masks, and gradients where a mask takes nothing; the numbers are those of TensorFlow 2.21."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from frontends import tf
from frontends.tf.selected.making import coordinates, masked
from frontends.tf.selected.selection import SelectionError

_X = np.asarray([1, 2, 3], np.float32)


def taken(x, number) -> Any:
    """Takes what is greater than a number."""
    return masked(x, x > number)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: taken(x, 1.5) * x,
        lambda x: jnp.ones(3) + taken(x, 1.5) * 2,
        lambda x: tf.maximum(x, taken(x, 1.5)),
        lambda x: tf.where(x > 2, taken(x, 1.5), 0.0),
        lambda x: tf.concat([taken(x, 1.5)[:, None], x[:, None]], 1),
        lambda x: tf.stack([taken(x, 1.5), x]),
        lambda x: tf.tensordot(taken(x, 1.5), x, 1),
        lambda x: tf.einsum("i,ij->ij", taken(x, 1.5), jnp.ones([3, 2])),
        lambda x: tf.gather(jnp.ones([3, 2]), tf.cast(taken(x, 1.5), tf.int32), batch_dims=1),
    ],
)
def test_some_entries_do_not_fit_all(function):
    with pytest.raises(
        SelectionError, match=r"of all entries of another one .*x\[mask\] \* y\[mask\]"
    ):
        jax.jit(lambda x: tf.reduce_sum(function(x)))(_X)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: taken(x, 1.5) * taken(x + 0, 1.5), 13),
        (lambda x: taken(x, 2.5) * taken(x, 1.5), 15),
        (lambda x: taken(x, 1.5) * taken(x, 2.5) * taken(x, 0.5), np.nan),
        (lambda x: taken(x, 2.5) * taken(x, 9.0), 0),
        (lambda x: taken(x, 0.5) * taken(x, 1.5), np.nan),
        (lambda x: taken(x, 0.5) * taken(x, 9.0), np.nan),
        (lambda x: tf.cast(taken(x, 0.5) > taken(x, 1.5), tf.float32), np.nan),
        (lambda x: tf.stack([taken(x, 2.5), taken(x, 1.5)]), np.nan),
        (lambda x: tf.tensordot(taken(x, 2.5), taken(x, 1.5), 1), np.nan),
        (lambda x: tf.concat([taken(x, 0.5) * taken(x, 1.5), x], 0), np.nan),
        (lambda x: tf.reshape((taken(x, 0.5) * taken(x, 1.5))[:, None] + x, [-1]), np.nan),
        (lambda x: tf.math.reduce_std(taken(x, 0.5) * taken(x, 1.5)), np.nan),
        (lambda x: taken(x, 1.5) * x[:1] * x[0] * jnp.ones([]), 5),
    ],
)
def test_numbers_of_entries_of_several_masks(function, expected):
    found = jax.jit(lambda x: tf.reduce_sum(function(x)))(_X)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x, y: tf.reduce_any(x > y), False),
        (lambda x, y: tf.math.count_nonzero(x * y), 2),
        (lambda x, y: tf.argmax(x * y), 1),
        (lambda x, y: tf.shape(x * y)[0], 2),
        (lambda x, y: tf.size(x * y), 2),
        (lambda x, y: tf.reduce_mean(tf.cast(x * y, tf.int32)), 6),
    ],
)
def test_integers_of_several_masks(function, expected):
    both = jax.jit(lambda x: function(taken(x, 1.5), taken(x, 1.5)))
    with pytest.raises(SelectionError, match=r"same mask for both: mask = x > 0, then x\[mask\]"):
        both(_X)

    @jax.jit
    def of_one(x):
        mask = x > 1.5
        return function(masked(x, mask), masked(x, mask))

    assert of_one(_X) == expected


@pytest.mark.parametrize(
    ("function", "weight", "slopes"),
    [
        (lambda x, w: tf.math.log(tf.gather_nd(x, coordinates(x > 9))), 1, ([0, 0, 0], 0)),
        (lambda x, w: -tf.math.log(1.0 - w * taken(x, 9)), 1, ([0, 0, 0], 0)),
        (lambda x, w: tf.math.log(w * taken(x, 0.3)), 2, ([0, 0, 2.5], 0.5)),
        (lambda x, w: tf.math.acosh(w * taken(x, 9)), 1, ([0, 0, 0], 0)),
        (lambda x, w: tf.pow(w, taken(x, 0.3)), 0, ([0, 0, 0], np.inf)),
        (lambda x, w: tf.math.xlogy(w, taken(x, 0.3)), 1, ([0, 0, 2.5], np.log(0.4))),
        (lambda x, w: tf.math.log(w * tf.cumsum(taken(x, 0.1))), 2, ([0, 20 / 3, 5 / 3], 1)),
        (lambda x, w: tf.math.log(w * tf.cumsum(taken(x, 9))), 2, ([0, 0, 0], 0)),
        (lambda x, w: tf.math.log(w * tf.math.cumprod(taken(x, 0.1))), 2, ([0, 10, 2.5], 1)),
        (lambda x, w: tf.norm(taken(x, 9)[:, None] * w, axis=1), 1, ([0, 0, 0], 0)),
        (lambda x, w: tf.nn.softmax(taken(x, 9) / w), 0, ([0, 0, 0], 0)),
        (
            lambda x, w: tf.reduce_prod(1 / (w * taken(x, 0.3))[:, None], 1),
            1,
            ([0, 0, -6.25], -2.5),
        ),
    ],
)
def test_gradients_come_to_what_was_taken_only(function, weight, slopes):
    x = jnp.asarray([0, 0.2, 0.4])
    found = jax.jit(jax.grad(lambda x, w: tf.reduce_sum(function(x, w)), (0, 1)))(x, 1.0 * weight)
    for one, expected in zip(found, slopes, strict=True):
        np.testing.assert_allclose(one, expected, rtol=1e-5)


def test_no_gradient_of_rows_that_are_not_taken():
    x = jnp.asarray([[np.nan, 0], [1, 2], [3, 4]])

    def loss(x, w):
        return tf.reduce_sum(tf.math.log(tf.matmul(masked(x, x[:, 0] > 0), w)))

    for one in jax.jit(jax.grad(loss, (0, 1)))(x, jnp.ones([2, 2])):
        assert np.isfinite(one).all()
