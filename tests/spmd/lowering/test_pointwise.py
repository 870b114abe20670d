"""Tests of convolutions that are matrix products, against XLA's."""

import jax
import jax.numpy as jnp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax.extend.core import jaxpr_as_fun

from spmd.lowering import for_cpu
from tests.spmd.lowering.rewrites import ANY, assert_close, both, convolution, numbers

SIZES = st.tuples(st.integers(1, 3), st.integers(1, 3))
PADDING = st.sampled_from(["SAME", "VALID", ((2, 1), (0, 3))])


@settings(max_examples=5, deadline=None)
@given(
    SIZES,
    PADDING,
    st.sampled_from([jnp.float32, jnp.bfloat16, jnp.float16]),
    st.integers(1, 5),
    st.integers(1, 5),
)
def test_equals_xla(strides, padding, dtype, channels, outputs):
    run = convolution(window_strides=strides, padding=padding)
    image = numbers(2, 8, 9, channels, dtype=dtype)
    kernel = numbers(1, 1, channels, outputs, seed=1, dtype=dtype)
    plain, better, taken = both(run, image, kernel)
    assert taken == ["pointwise", "pointwise_kernel_gradient", "pointwise"]
    assert_close(plain, better)


@pytest.mark.parametrize(("channels", "outputs"), [(5, 3), (3, 5)])
def test_only_the_smaller_operand_of_a_kernel_gradient_is_transposed(channels, outputs):
    run = convolution(window_strides=(1, 1), padding="VALID")
    image, kernel = numbers(2, 8, 8, channels), numbers(1, 1, channels, outputs)
    program = for_cpu(jax.make_jaxpr(lambda *operands: run(*operands)[1:])(image, kernel), ANY)
    compiled = jax.jit(jaxpr_as_fun(program)).lower(image, kernel).compile().as_text() or ""
    assert f"f32[{min(channels, outputs)},128]" in compiled
    assert f"f32[{max(channels, outputs)},128]" not in compiled


def test_cut_by_negative_padding():
    run = convolution(window_strides=(2, 1), padding=((-1, 0), (-2, -1)))
    plain, better, taken = both(run, numbers(2, 8, 9, 3), numbers(1, 1, 3, 4))
    assert taken[0] == "pointwise"
    assert_close(plain, better)


@pytest.mark.parametrize(
    "layout", [("NHWC", "HWIO", "NHWC"), ("NCHW", "OIHW", "NCHW"), ("HWNC", "IOHW", "CWNH")]
)
def test_layouts(layout):
    def shape(letters, sizes):
        return [sizes[letter] for letter in letters]

    image = numbers(*shape(layout[0], {"N": 2, "H": 5, "W": 6, "C": 3}))
    kernel = numbers(*shape(layout[1], {"H": 1, "W": 1, "I": 3, "O": 4}))
    run = convolution(window_strides=(1, 1), padding="VALID", dimension_numbers=layout)
    plain, better, taken = both(run, image, kernel)
    assert len(taken) == 3
    assert_close(plain, better)


def test_a_window_over_the_whole_image():
    run = convolution(window_strides=(1, 1), padding="VALID")
    plain, better, taken = both(run, numbers(2, 5, 6, 3), numbers(5, 6, 3, 4))
    assert "pointwise_kernel_gradient" in taken
    assert_close(plain, better)


def test_groups_become_one_product():
    run = convolution(window_strides=(1, 1), padding="VALID", feature_group_count=2)
    plain, better, taken = both(run, numbers(2, 5, 6, 4), numbers(1, 1, 2, 4))
    assert sorted(taken) == ["grouped", "grouped", "grouped_kernel_gradient"]
    assert_close(plain, better)
