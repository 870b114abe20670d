"""Tests of convolutions of images with few channels, against XLA's."""

import jax
import jax.numpy as jnp
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from spmd.lowering import Thresholds
from tests.spmd.lowering.rewrites import assert_close, both, convolution, numbers, operands_of

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


@settings(max_examples=10, deadline=None)
@given(
    st.integers(1, 3),
    st.integers(1, 3),
    st.sampled_from([(1, 2), (1, 3), (1, 4), (2, 4), (2, 5)]),
    PADDING,
    st.integers(2, 4),
    st.sampled_from([("NHWC", "HWIO", "NHWC"), ("NCHW", "OIHW", "NCHW")]),
    st.sampled_from([jnp.float32, jnp.bfloat16, jnp.float16]),
)
def test_pairs_of_pixels(rows, down, along, padding, channels, layout, dtype):
    stride, columns = along
    run = convolution(window_strides=(down, stride), padding=padding, dimension_numbers=layout)
    sizes = {"N": 2, "C": channels, "H": 9, "W": 13}
    kernels = {"I": channels, "O": 8, "H": rows, "W": columns}
    image, kernel = operands_of(layout, sizes, kernels, dtype)
    result, *_ = jax.eval_shape(run, image, kernel)
    assume(result.shape[layout[2].index("W")] % 2 == 0)
    plain, better, taken = both(run, image, kernel, thresholds=Thresholds(work=0, pair_work=0))
    assert "pairs_of_pixels" in taken
    assert_close(plain, better)


@pytest.mark.parametrize(
    ("channels", "outputs", "width", "taken"),
    [
        (3, 16, 64, True),
        (3, 16, 63, False),
        (3, 17, 64, False),
        (5, 16, 64, False),
        (3, 16, 8, False),
    ],
)
def test_colour_pictures_to_few_features_are_paired(channels, outputs, width, taken):
    run = convolution(window_strides=(1, 1), padding="SAME")
    operands = numbers(4, 64, width, channels), numbers(3, 3, channels, outputs)
    *_, names = both(lambda *operands: run(*operands)[:1], *operands, thresholds=Thresholds())
    assert ("pairs_of_pixels" in names) == taken


@pytest.mark.parametrize("options", [{"window_strides": (1, 2)}, {"rhs_dilation": (1, 2)}])
def test_wide_strides_and_dilations_are_not_paired(options):
    run = convolution(**{"window_strides": (1, 1), "padding": "SAME"} | options)
    operands = numbers(2, 8, 8, 3), numbers(3, 3, 3, 16)
    *_, names = both(run, *operands, thresholds=Thresholds(work=0, pair_work=0))
    assert "pairs_of_pixels" not in names


def test_both_are_taken_for_the_first_layer():
    run = convolution(window_strides=(1, 1), padding="VALID")
    *_, taken = both(run, numbers(2, 12, 12, 1), numbers(3, 3, 1, 32))
    assert taken == ["one_channel", "few_channels_kernel_gradient"]


def test_kernel_gradient_of_two_channels():
    run = convolution(window_strides=(1, 1), padding="SAME")
    plain, better, taken = both(run, numbers(2, 8, 8, 2), numbers(3, 3, 2, 4))
    assert taken == ["few_channels_kernel_gradient"]
    assert_close(plain, better)
