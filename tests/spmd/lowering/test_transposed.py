"""Tests of kernel gradients of transposed convolutions, against XLA's."""

import jax
import jax.numpy as jnp
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.spmd.lowering.rewrites import RANKS, assert_close, both, numbers, operands_of


def transposed(strides, padding, layout=("NHWC", "HWIO", "NHWC"), **options):
    """Makes a function that gives a transposed convolution, and its gradients with regard to input and kernel."""

    def run(image, kernel):
        def convolve(image, kernel):
            return jax.lax.conv_transpose(
                image, kernel, strides, padding, dimension_numbers=layout, **options
            )

        result, pull = jax.vjp(convolve, image, kernel)
        return [result, *pull(jnp.sin(result))]

    return run


@settings(max_examples=10, deadline=None)
@given(
    st.tuples(st.integers(1, 5), st.integers(1, 5)),
    st.tuples(st.integers(1, 3), st.integers(1, 3)),
    st.sampled_from(["SAME", "VALID", ((2, 1), (0, 3))]),
    st.booleans(),
    st.sampled_from([jnp.float32, jnp.bfloat16, jnp.float16]),
)
def test_equals_xla(window, strides, padding, transpose_kernel, dtype):
    assume(strides != (1, 1))
    run = transposed(strides, padding, transpose_kernel=transpose_kernel)
    channels = (4, 3) if transpose_kernel else (3, 4)
    image, kernel = (
        numbers(2, 5, 6, 3, dtype=dtype),
        numbers(*window, *channels, seed=1, dtype=dtype),
    )
    plain, better, names = both(run, image, kernel)
    assume("transposed_kernel_gradient" in names)
    assert_close(plain, better)


@pytest.mark.parametrize(("rank", "layout"), RANKS)
def test_of_any_rank_and_layout(rank, layout):
    sizes = {"N": 2, "C": 3, "D": 4, "H": 5, "W": 6}
    kernels = {"I": 3, "O": 4, "D": 3, "H": 3, "W": 3}
    run = transposed((2,) * rank, "SAME", layout)
    image, kernel = operands_of(layout, sizes, kernels)
    plain, better, names = both(run, image, kernel)
    assert names.count("transposed_kernel_gradient") == 1
    assert_close(plain, better)


def test_the_gradient_of_the_gradient():
    run = transposed((2, 2), "SAME")

    def second(image, kernel):
        return jax.grad(lambda kernel: jnp.sum(run(image, kernel)[2] ** 2))(kernel)

    plain, better, names = both(second, numbers(2, 5, 5, 3), numbers(4, 4, 3, 4, seed=1))
    assert "transposed_kernel_gradient" in names
    assert_close([plain[0]], [better[0]])


def test_a_window_with_gaps_is_left_to_xla():
    def run(image, kernel):
        return jax.lax.conv_general_dilated(
            image,
            kernel,
            (1, 1),
            ((0, 0), (0, 0)),
            lhs_dilation=(2, 2),
            rhs_dilation=(2, 2),
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
        )

    _, _, names = both(run, numbers(2, 6, 6, 3), numbers(5, 5, 3, 4))
    assert names == []
