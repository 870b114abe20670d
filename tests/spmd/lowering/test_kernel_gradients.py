"""Tests of kernel gradients of few outputs, and of small batches, against XLA's."""

import jax
import jax.numpy as jnp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spmd.lowering import Thresholds
from tests.spmd.lowering.rewrites import (
    LAYOUT,
    assert_close,
    both,
    convolution,
    numbers,
    operands_of,
)

# Rewrites small operations; the thresholds of other rewrites stay.
SMALL = Thresholds(work=0)
PADDING = st.sampled_from(["SAME", "VALID", ((2, 1), (0, 3)), ((3, 0), (1, -1))])
WINDOW = st.tuples(st.integers(1, 4), st.integers(2, 4))
DTYPE = st.sampled_from([jnp.float32, jnp.bfloat16, jnp.float16])


def check(images, channels, outputs, window, padding, layout, dtype):
    """Compares all three convolutions, and returns the rewrites."""
    run = convolution(window_strides=(1, 1), padding=padding, dimension_numbers=layout)
    sizes = {"N": images, "C": channels, "H": 9, "W": 8}
    kernels = {"I": channels, "O": outputs, "H": window[0], "W": window[1]}
    image, kernel = operands_of(layout, sizes, kernels, dtype)
    plain, better, names = both(run, image, kernel, thresholds=SMALL)
    assert_close(plain, better)
    return names


LAYOUTS = st.sampled_from([LAYOUT, ("NCHW", "OIHW", "NCHW")])


@settings(max_examples=10, deadline=None)
@given(st.integers(1, 5), st.integers(1, 7), WINDOW, PADDING, LAYOUTS, DTYPE)
def test_few_outputs_change_places_with_the_input(images, outputs, window, padding, layout, dtype):
    names = check(images, 9, outputs, window, padding, layout, dtype)
    assert "exchanged_kernel_gradient" in names


@settings(max_examples=10, deadline=None)
@given(st.integers(1, 4), st.integers(8, 16), WINDOW, PADDING, LAYOUTS, DTYPE)
def test_a_small_batch_is_one_product(images, outputs, window, padding, layout, dtype):
    names = check(images, 8, outputs, window, padding, layout, dtype)
    assert "small_batch_kernel_gradient" in names


@pytest.mark.parametrize(
    ("images", "channels", "outputs", "rewrite"),
    [
        (4, 32, 7, ["exchanged_kernel_gradient"]),
        (4, 32, 8, ["small_batch_kernel_gradient"]),
        (4, 7, 8, []),
        (4, 4, 7, []),
        (5, 32, 8, []),
        (2, 32, 17, []),
        (1, 32, 16, ["small_batch_kernel_gradient"]),
        (1, 32, 18, []),
        (1, 96, 96, []),
    ],
)
def test_batch_and_outputs_decide(images, channels, outputs, rewrite):
    def gradient(image, kernel):
        run = convolution(window_strides=(1, 1), padding="SAME")
        return run(image, kernel)[2:]

    operands = numbers(images, 16, 16, channels), numbers(3, 3, channels, outputs)
    names = both(gradient, *operands, thresholds=Thresholds())[2]
    assert [name for name in names if "kernel_gradient" in name] == rewrite


@pytest.mark.parametrize("options", [{"window_strides": (2, 2)}, {"rhs_dilation": (2, 1)}])
def test_strides_and_dilations_are_left_to_xla(options):
    run = convolution(**{"window_strides": (1, 1), "padding": "SAME"} | options)
    *_, names = both(run, numbers(1, 9, 8, 9), numbers(3, 3, 9, 3), thresholds=SMALL)
    assert names == []


def test_the_gradient_of_the_gradient():
    run = convolution(window_strides=(1, 1), padding="SAME")

    def penalty(kernel):
        return jax.grad(lambda kernel: (run(numbers(2, 6, 6, 8), kernel)[0] ** 3).sum())(kernel)

    def second(kernel):
        return [jax.grad(lambda kernel: (penalty(kernel) ** 2).sum())(kernel)]

    plain, better, names = both(second, numbers(3, 3, 8, 8, seed=1) / 10, thresholds=SMALL)
    assert "small_batch_kernel_gradient" in names
    assert_close(plain, better)
