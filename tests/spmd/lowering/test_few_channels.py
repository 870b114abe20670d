"""Tests of convolutions of grey images, against XLA's."""

import jax.numpy as jnp
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.spmd.lowering.rewrites import assert_close, both, convolution, numbers

SIZES = st.tuples(st.integers(1, 3), st.integers(1, 3))
PADDING = st.sampled_from(["SAME", "VALID", ((2, 1), (0, 3))])


@settings(max_examples=5, deadline=None)
@given(SIZES, SIZES, SIZES, PADDING, st.sampled_from([jnp.float32, jnp.bfloat16, jnp.float16]))
def test_equals_xla(window, strides, dilation, padding, dtype):
    assume(window != (1, 1))
    run = convolution(window_strides=strides, padding=padding, rhs_dilation=dilation)
    image, kernel = numbers(2, 12, 13, 1, dtype=dtype), numbers(*window, 1, 8, seed=1, dtype=dtype)
    plain, better, taken = both(run, image, kernel)
    assert "one_channel" in taken
    assert_close(plain, better)


def test_both_are_taken_for_the_first_layer():
    run = convolution(window_strides=(1, 1), padding="VALID")
    *_, taken = both(run, numbers(2, 12, 12, 1), numbers(3, 3, 1, 32))
    assert taken == ["one_channel", "few_channels_kernel_gradient"]


def test_kernel_gradient_of_two_channels():
    run = convolution(window_strides=(1, 1), padding="SAME")
    plain, better, taken = both(run, numbers(2, 8, 8, 2), numbers(3, 3, 2, 4))
    assert taken == ["few_channels_kernel_gradient"]
    assert_close(plain, better)
