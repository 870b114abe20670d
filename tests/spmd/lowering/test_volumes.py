"""Tests of convolutions of volumes, against XLA's."""

import math

import jax
import jax.numpy as jnp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax.extend.core import jaxpr_as_fun

from spmd.lowering import for_cpu
from tests.spmd.lowering.rewrites import ANY, assert_close, both, convolution, numbers

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


@pytest.mark.parametrize(("window", "is_once"), [((3, 3, 3), True), ((3, 5, 5), False)])
def test_the_sum_of_one_channel_is_computed_once(window, is_once):
    """Its layers become sums of elementwise terms, which XLA would compute again for each reader."""
    run = convolution(window_strides=(1, 1, 1), padding="SAME", dimension_numbers=LAYOUT)
    image, kernel = numbers(2, 7, 8, 9, 1), numbers(*window, 1, 8, seed=1)
    plain, better, _ = both(run, image, kernel)
    assert_close(plain, better)
    program = for_cpu(jax.make_jaxpr(lambda *of: run(*of)[0])(image, kernel), ANY)
    text = jax.jit(jaxpr_as_fun(program)).lower(image, kernel).as_text()
    assert ('inlineable = "false"' in text) == is_once
