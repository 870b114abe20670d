"""Tests of kernel gradients by transforms, against XLA's."""

import jax
import jax.numpy as jnp
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from spmd.lowering import for_cpu
from tests.spmd.lowering.rewrites import assert_close, both, convolution, numbers, taken

PAIRS = st.tuples(st.integers(1, 5), st.integers(1, 5))
SIZES = st.tuples(st.integers(5, 13), st.integers(5, 13))
PADDING = st.sampled_from(["SAME", "VALID", ((2, 1), (0, 3)), ((6, 0), (1, -2))])


@settings(max_examples=12, deadline=None)
@given(SIZES, PAIRS, PADDING, st.sampled_from([jnp.float32, jnp.bfloat16, jnp.float16]))
def test_equals_xla(size, window, padding, dtype):
    assume(window != (1, 1))
    run = convolution(window_strides=(1, 1), padding=padding)
    image = numbers(9, *size, 4, dtype=dtype)
    plain, better, taken = both(run, image, numbers(*window, 4, 3, seed=1, dtype=dtype))
    if "spectral_kernel_gradient" not in taken:  # the kernel is as large as the result
        assume(False)
    assert_close(plain, better)


@pytest.mark.parametrize("layout", [("NCHW", "OIHW", "NCHW"), ("NHWC", "HWOI", "NCHW")])
def test_any_layout(layout):
    run = convolution(window_strides=(1, 1), padding="SAME", dimension_numbers=layout)
    image = numbers(*(9, 4, 8, 7) if layout[0] == "NCHW" else (9, 8, 7, 4))
    kernel = numbers(*(5, 4, 3, 3) if layout[1] == "OIHW" else (3, 3, 5, 4), seed=1)
    plain, better, taken = both(run, image, kernel)
    assert taken == ["spectral_kernel_gradient"]
    assert_close(plain, better)


@pytest.mark.parametrize(
    "options",
    [
        {"window_strides": (2, 2), "padding": "SAME"},
        {"window_strides": (1, 1), "padding": "SAME", "rhs_dilation": (2, 1)},
        {"window_strides": (1, 1), "padding": ((-1, 2), (0, 0))},
    ],
)
def test_strides_dilations_and_cut_images_are_left_to_xla(options):
    *_, taken = both(convolution(**options), numbers(9, 8, 8, 4), numbers(3, 3, 4, 5))
    assert taken == []


@pytest.mark.parametrize(
    ("image", "kernel", "is_taken"),
    [
        ((128, 14, 14, 32), (5, 5, 32, 64), True),
        ((32, 14, 14, 64), (3, 3, 64, 64), True),
        ((16, 14, 14, 32), (5, 5, 32, 64), False),  # few images
        ((32, 8, 8, 256), (3, 3, 256, 256), False),  # few pixels for so many channels
        ((32, 56, 56, 64), (3, 3, 64, 64), False),  # it would round too much
        ((32, 28, 28, 32), (2, 2, 32, 32), False),  # XLA has less to do
        ((32, 8, 8, 16), (3, 3, 16, 16), False),  # and here either is quick
    ],
)
def test_it_is_taken_where_it_was_measured_to_pay(image, kernel, is_taken):
    run = convolution(window_strides=(1, 1), padding="SAME")
    shapes = [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in (image, kernel)]
    assert taken(for_cpu(jax.make_jaxpr(run)(*shapes))) == ["spectral_kernel_gradient"] * is_taken
