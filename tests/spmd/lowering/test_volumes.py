"""Tests of convolutions of volumes, against XLA's."""

import math

import jax.numpy as jnp
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.spmd.lowering.rewrites import assert_close, both, convolution, numbers

LAYOUT = ("NDHWC", "DHWIO", "NDHWC")
SIZES = st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 3))
PADDING = st.sampled_from(["SAME", "VALID", ((2, 1), (0, 3), (1, 0))])


@settings(max_examples=8, deadline=None)
@given(SIZES, SIZES, SIZES, PADDING, st.sampled_from([jnp.float32, jnp.bfloat16, jnp.float16]))
def test_equals_xla(window, strides, dilation, padding, dtype):
    run = convolution(
        window_strides=strides, padding=padding, rhs_dilation=dilation, dimension_numbers=LAYOUT
    )
    image = numbers(2, 7, 8, 9, 3, dtype=dtype)
    kernel = numbers(*window, 3, 4, seed=1, dtype=dtype)
    plain, better, taken = both(run, image, kernel)
    if window != (1, 1, 1):
        assert "by_layers" in taken
    if math.prod(window) < math.prod(plain[0].shape[1:-1]):
        assert "kernel_gradient_by_layers" in taken
    assert_close(plain, better)


def test_a_batch_of_one_and_other_layouts():
    run = convolution(
        window_strides=(2, 1, 2),
        padding="SAME",
        dimension_numbers=("NCDHW", "OIDHW", "NCDHW"),
    )
    image, kernel = numbers(1, 3, 6, 7, 8), numbers(4, 3, 3, 2, 3, seed=1)
    plain, better, taken = both(run, image, kernel)
    assert sorted(taken) == ["by_layers", "by_layers", "kernel_gradient_by_layers"]
    assert_close(plain, better)
