"""Tests of convolutions in groups of several channels, against XLA's."""

import jax
import jax.numpy as jnp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spmd.lowering import for_cpu
from tests.spmd.lowering.rewrites import LAYOUT, RANKS, assert_close, both, convolution, numbers

SIZES = st.tuples(st.integers(1, 3), st.integers(1, 3))
PADDING = st.sampled_from(["SAME", "VALID", ((2, 1), (0, 3))])


@settings(max_examples=8, deadline=None)
@given(
    SIZES,
    SIZES,
    SIZES,
    PADDING,
    st.sampled_from([(2, 2, 3), (4, 3, 2), (20, 2, 2), (3, 32, 40)]),
    st.sampled_from([jnp.float32, jnp.bfloat16, jnp.float16]),
)
def test_equals_xla(window, strides, dilation, padding, sizes, dtype):
    groups, features, outputs = sizes
    run = convolution(
        window_strides=strides, padding=padding, rhs_dilation=dilation, feature_group_count=groups
    )
    image = numbers(2, 8, 9, groups * features, dtype=dtype)
    kernel = numbers(*window, features, groups * outputs, seed=1, dtype=dtype)
    plain, better, taken = both(run, image, kernel)
    assert sorted(taken) == ["grouped", "grouped", "grouped_kernel_gradient"]
    assert_close(plain, better)


@pytest.mark.parametrize(("rank", "layout"), RANKS)
def test_of_any_rank_and_layout(rank, layout):
    sizes = {"N": 2, "C": 8, "I": 2, "O": 12, "D": 4, "H": 5, "W": 6}
    run = convolution(
        window_strides=(1,) * rank,
        padding="SAME",
        feature_group_count=4,
        dimension_numbers=layout,
    )
    image = numbers(*(sizes[axis] for axis in layout[0]))
    kernel = numbers(*(sizes.get(axis) if axis in "IO" else 3 for axis in layout[1]), seed=1)
    plain, better, taken = both(run, image, kernel)
    assert sorted(taken) == ["grouped", "grouped", "grouped_kernel_gradient"]
    assert_close(plain, better)


def test_many_groups_are_few_convolutions():
    def run(image, kernel):
        return jax.lax.conv_general_dilated(
            image, kernel, (1, 1), "SAME", dimension_numbers=LAYOUT, feature_group_count=32
        )

    def count(channels):
        image = jax.ShapeDtypeStruct((1, 8, 8, 32 * channels), jnp.float32)
        kernel = jax.ShapeDtypeStruct((3, 3, channels, 32 * channels), jnp.float32)
        text = str(for_cpu(jax.make_jaxpr(run)(image, kernel)))
        return text.count("conv_general_dilated[")

    assert count(4) == 2
    assert count(32) == 16
    assert count(64) == 1  # XLA's


def test_many_groups_are_left_to_xla_but_for_their_kernel_gradient():
    run = convolution(window_strides=(1, 1), padding="SAME", feature_group_count=67)
    plain, better, taken = both(run, numbers(1, 4, 4, 134), numbers(3, 3, 2, 134, seed=1))
    assert taken == ["grouped_kernel_gradient"]
    assert_close(plain, better)
