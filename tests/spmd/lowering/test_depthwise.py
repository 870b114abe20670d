"""Tests of depthwise convolutions and their gradients, against XLA's."""

import jax
import jax.numpy as jnp
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.spmd.lowering.rewrites import assert_close, both, convolution, numbers

SIZES = st.tuples(st.integers(1, 3), st.integers(1, 3))
DTYPES = st.sampled_from([jnp.float32, jnp.bfloat16, jnp.float16])
PADDING = st.sampled_from(["SAME", "VALID", ((2, 1), (0, 3))])


@settings(max_examples=5, deadline=None)
@given(SIZES, SIZES, SIZES, PADDING, st.integers(1, 2), DTYPES)
def test_equals_xla(window, strides, dilation, padding, outputs_of_each, dtype):
    assume(window != (1, 1))  # these are no window at all
    run = convolution(
        window_strides=strides, padding=padding, rhs_dilation=dilation, feature_group_count=4
    )
    image = numbers(2, 8, 9, 4, dtype=dtype)
    kernel = numbers(*window, 1, 4 * outputs_of_each, seed=1, dtype=dtype)
    plain, better, taken = both(run, image, kernel)
    assert taken[:2] == ["depthwise", "depthwise_kernel_gradient"]
    assert_close(plain, better)


@pytest.mark.parametrize(
    ("strides", "input_gradient"), [((1, 1), "depthwise"), ((2, 2), "depthwise_input_gradient")]
)
def test_gradients_are_taken(strides, input_gradient):
    run = convolution(window_strides=strides, padding="SAME", feature_group_count=4)
    *_, taken = both(run, numbers(2, 8, 8, 4), numbers(3, 3, 1, 4))
    assert taken == ["depthwise", "depthwise_kernel_gradient", input_gradient]


def test_strides_larger_than_the_window():
    run = convolution(window_strides=(3, 4), padding="VALID", feature_group_count=4)
    plain, better, _ = both(run, numbers(2, 9, 9, 4), numbers(2, 2, 1, 4))
    assert_close(plain, better)


def test_channels_first():
    layout = ("NCHW", "OIHW", "NCHW")
    run = convolution(
        window_strides=(2, 2), padding="SAME", feature_group_count=4, dimension_numbers=layout
    )
    plain, better, taken = both(run, numbers(2, 4, 7, 7), numbers(4, 1, 3, 3))
    assert len(taken) == 3
    assert_close(plain, better)


def test_one_dimension():
    layout = ("NWC", "WIO", "NWC")
    run = convolution(
        window_strides=(2,), padding="SAME", feature_group_count=4, dimension_numbers=layout
    )
    plain, better, taken = both(run, numbers(2, 9, 4), numbers(3, 1, 4))
    assert len(taken) == 3
    assert_close(plain, better)


def test_a_sum_of_small_numbers_keeps_its_bits():
    run = convolution(window_strides=(1, 1), padding="VALID", feature_group_count=2)
    image = jnp.full((1, 64, 64, 2), 1.0, jnp.bfloat16)
    _, (_, _, of_kernel), _ = both(run, image, jnp.full((3, 3, 1, 2), 0.1, jnp.bfloat16))
    # Each of 62 x 62 terms is sin(0.9); a sum in bfloat16 would end at 256 times that.
    assert float(of_kernel.min()) > 2900


def test_large_window_is_left_to_xla():
    run = convolution(window_strides=(1, 1), padding="SAME", feature_group_count=2)
    *_, taken = both(run, numbers(1, 9, 9, 2), numbers(8, 8, 1, 2))
    assert taken == []


def test_gradient_of_gradient():
    def twice(image, kernel):
        run = convolution(window_strides=(2, 2), padding="SAME", feature_group_count=3)
        return jax.grad(lambda kernel: sum((part**2).sum() for part in run(image, kernel)))(kernel)

    plain, better, taken = both(twice, numbers(2, 6, 6, 3), numbers(3, 3, 1, 3))
    assert "depthwise_kernel_gradient" in taken
    assert_close(plain, better)
