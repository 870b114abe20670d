"""Tests of convolutions and kernel gradients by transforms, against XLA's."""

import dataclasses
import re

import jax
import jax.numpy as jnp
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from jax.extend.core import jaxpr_as_fun

from spmd.lowering import for_cpu
from tests.spmd.lowering.rewrites import ANY, assert_close, both, convolution, numbers, taken

PAIRS = st.tuples(st.integers(1, 5), st.integers(1, 5))
SIZES = st.tuples(st.integers(5, 13), st.integers(5, 13))
PADDING = st.sampled_from(["SAME", "VALID", ((2, 1), (0, 3)), ((6, 0), (1, -2))])
ALL = dataclasses.replace(ANY, gain=0)
THREE = ["spectral_convolution", "spectral_kernel_gradient", "spectral_convolution"]


@settings(max_examples=12, deadline=None)
@given(SIZES, PAIRS, PADDING, st.sampled_from([jnp.float32, jnp.bfloat16, jnp.float16]))
def test_equals_xla(size, window, padding, dtype):
    assume(window != (1, 1))
    run = convolution(window_strides=(1, 1), padding=padding)
    image = numbers(9, *size, 4, dtype=dtype)
    kernel = numbers(*window, 4, 3, seed=1, dtype=dtype)
    plain, better, taken = both(run, image, kernel, thresholds=ALL)
    assert "spectral_convolution" in taken
    assert_close(plain, better)


@pytest.mark.parametrize("layout", [("NCHW", "OIHW", "NCHW"), ("NHWC", "HWOI", "NCHW")])
def test_any_layout(layout):
    run = convolution(window_strides=(1, 1), padding="SAME", dimension_numbers=layout)
    image = numbers(*(9, 4, 8, 7) if layout[0] == "NCHW" else (9, 8, 7, 4))
    kernel = numbers(*(5, 4, 3, 3) if layout[1] == "OIHW" else (3, 3, 5, 4), seed=1)
    plain, better, taken = both(run, image, kernel, thresholds=ALL)
    assert taken == THREE
    assert_close(plain, better)


def test_transforms_are_shared():
    run = jax.jit(convolution(window_strides=(1, 1), padding="SAME"))
    shapes = [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in ((9, 8, 8, 4), (5, 5, 4, 6))]
    program = jaxpr_as_fun(for_cpu(jax.make_jaxpr(run)(*shapes), ALL))
    compiled = jax.jit(program).lower(*shapes).compile().as_text()
    # Four of two products each, as the kernel stands in two orders; three inverse ones; and 2, 2 and 1 products.
    assert len(re.findall(r" dot\(", compiled)) <= 8 + 6 + 5


@pytest.mark.parametrize(
    "options",
    [
        {"window_strides": (2, 2), "padding": "SAME"},
        {"window_strides": (1, 1), "padding": "SAME", "rhs_dilation": (2, 1)},
        {"window_strides": (1, 1), "padding": ((-1, 0), (0, 0))},
    ],
)
def test_strides_dilations_and_cut_images_are_left_to_xla(options):
    operands = numbers(9, 8, 8, 4), numbers(3, 3, 4, 5)
    *_, taken = both(convolution(**options), *operands, thresholds=ALL)
    assert "spectral_kernel_gradient" not in taken
    assert (
        len(taken) <= 1
    )  # the gradient of a strided one by its input is a convolution of a dilated image


@pytest.mark.parametrize(
    ("image", "kernel", "expected"),
    [
        ((128, 14, 14, 32), (5, 5, 32, 64), THREE),
        ((32, 14, 14, 64), (3, 3, 64, 64), THREE[1:2]),
        ((16, 14, 14, 32), (5, 5, 32, 64), []),  # few images
        ((32, 8, 8, 256), (3, 3, 256, 256), []),  # few pixels for so many channels
        ((32, 56, 56, 64), (3, 3, 64, 64), []),  # it would round too much
        ((32, 28, 28, 32), (2, 2, 32, 32), []),  # XLA has less to do
        ((32, 8, 8, 16), (3, 3, 16, 16), []),  # and here either is quick
    ],
)
def test_they_are_taken_where_they_were_measured_to_pay(image, kernel, expected):
    run = convolution(window_strides=(1, 1), padding="SAME")
    shapes = [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in (image, kernel)]
    assert taken(for_cpu(jax.make_jaxpr(run)(*shapes))) == expected
