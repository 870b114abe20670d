"""Tests of the gradient of max pooling, against XLA's bit for bit."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.spmd.lowering.rewrites import both, numbers

SPATIAL = st.tuples(*[st.tuples(st.integers(1, 4), st.integers(1, 3))] * 2)
PADDING = st.sampled_from(["SAME", "VALID", ((0, 0), (1, 0), (1, 1), (0, 0))])


def pool_gradient(window, strides, padding, smallest=False):
    def run(image):
        fill, choose = (np.inf, jax.lax.min) if smallest else (-np.inf, jax.lax.max)

        def pool(image):
            return jax.lax.reduce_window(
                image, np.array(fill, image.dtype), choose, window, strides, padding
            )

        result, pull = jax.vjp(pool, image)
        return pull(numbers(*result.shape, seed=1, dtype=image.dtype))

    return run


def assert_equal(plain, better):
    for expected, actual in zip(plain, better, strict=True):
        expected, actual = (np.asarray(value, np.float64) for value in (expected, actual))
        np.testing.assert_array_equal(actual, expected)


@settings(max_examples=5, deadline=None)
@given(SPATIAL, PADDING, st.sampled_from([jnp.float32, jnp.bfloat16, jnp.float16]), st.booleans())
def test_equals_xla(spatial, padding, dtype, smallest):
    window, strides = ((1, *numbers_of, 1) for numbers_of in zip(*spatial, strict=True))
    # Few different values, so that there are ties.
    image = jnp.round(numbers(2, 7, 8, 3)).astype(dtype)
    plain, better, taken = both(pool_gradient(window, strides, padding, smallest), image)
    assert taken == ["max_pool_gradient"]
    assert_equal(plain, better)


@pytest.mark.parametrize("strides", [(1, 1, 1, 1), (1, 2, 2, 1), (1, 3, 3, 1)])
def test_nan_and_infinity_as_xla(strides):
    image = numbers(1, 8, 8, 2)
    image = image.at[0, :3, 2].set(jnp.nan).at[0, 5:].set(-jnp.inf).at[0, 4, 4].set(jnp.inf)
    plain, better, _ = both(pool_gradient((1, 3, 3, 1), strides, "SAME"), image)
    assert_equal(plain, better)


def test_ties_go_to_the_first():
    gradient = pool_gradient((1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    _, (better,), _ = both(gradient, jnp.ones((1, 4, 4, 1)))
    assert np.count_nonzero(better[0, ::2, ::2]) == 4 == np.count_nonzero(better)


def test_one_and_three_dimensions():
    for shape, window in [((2, 9, 3), (1, 3, 1)), ((1, 5, 5, 5, 2), (1, 2, 2, 2, 1))]:
        plain, better, taken = both(pool_gradient(window, window, "SAME"), numbers(*shape))
        assert taken == ["max_pool_gradient"]
        assert_equal(plain, better)


def test_channels_first():
    gradient = pool_gradient((1, 1, 3, 3), (1, 1, 2, 2), "SAME")
    plain, better, _ = both(gradient, numbers(2, 3, 7, 7))
    assert_equal(plain, better)


def test_under_vmap():
    gradient = pool_gradient((1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    plain, better, taken = both(jax.vmap(gradient), numbers(3, 2, 4, 4, 2))
    assert taken == ["max_pool_gradient"]
    assert_equal(plain, better)


def test_large_window_is_left_to_xla():
    _, _, taken = both(pool_gradient((1, 8, 8, 1), (1, 8, 8, 1), "VALID"), numbers(1, 16, 16, 1))
    assert taken == []


def test_nothing_to_pool():
    plain, better, _ = both(pool_gradient((1, 2, 2, 1), (1, 2, 2, 1), "VALID"), numbers(0, 4, 4, 1))
    assert_equal(plain, better)
