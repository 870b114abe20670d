"""Runs a function as XLA lowers it, and with the rewrites for processors."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun

from spmd._jax_internals import opened, programs_in
from spmd.lowering import Thresholds, for_cpu

LAYOUT = ("NHWC", "HWIO", "NHWC")
# Number of spatial dimensions, and layouts of that.
RANKS = [
    (1, ("NHC", "HIO", "NHC")),
    (2, ("NCHW", "OIHW", "NCHW")),
    (3, ("NDHWC", "DHWIO", "NDHWC")),
]
# Rewrites small operations too, which are quick to test.
ANY = Thresholds(
    work=0,
    sum_of_products=0,
    product=0,
    channels=0,
    outputs=0,
    side=0,
    copied=0,
    outputs_for_copy=0.01,
    transformed=0,
    gain=math.inf,  # it takes any convolution that no other rewrite takes: see test_spectral.py
    kernel_gain=0,
    images=0,
    pixels=0,
)
FORMS = {
    "pointwise",
    "pointwise_kernel_gradient",
    "depthwise",
    "depthwise_input_gradient",
    "depthwise_kernel_gradient",
    "one_channel",
    "pairs_of_pixels",
    "few_channels_kernel_gradient",
    "transposed_kernel_gradient",
    "even_channels",
    "padded_first",
    "exchanged_kernel_gradient",
    "small_batch_kernel_gradient",
    "grouped",
    "grouped_kernel_gradient",
    "by_layers",
    "kernel_gradient_by_layers",
    "max_pool_gradient",
    "spectral_kernel_gradient",
    "spectral_convolution",
    "flat_random_bits",
}


def numbers(*shape: int, seed: int = 0, dtype: Any = jnp.float32) -> jax.Array:
    """Makes an array of random numbers."""
    return jnp.asarray(np.random.default_rng(seed).standard_normal(shape), dtype)


def operands_of(
    layout: Sequence[str],
    sizes: Mapping[str, int],
    kernels: Mapping[str, int],
    dtype: Any = jnp.float32,
) -> tuple[jax.Array, jax.Array]:
    """Makes an image and a kernel, whose sizes are given by the letters of a layout."""
    return (
        numbers(*(sizes[axis] for axis in layout[0]), dtype=dtype),
        numbers(*(kernels[axis] for axis in layout[1]), seed=1, dtype=dtype),
    )


def convolution(**options: Any) -> Callable[[jax.Array, jax.Array], list[jax.Array]]:
    """Makes a function that gives a convolution, and its gradients with regard to input and kernel."""

    def run(image: jax.Array, kernel: jax.Array) -> list[jax.Array]:
        def convolve(image: jax.Array, kernel: jax.Array) -> jax.Array:
            return jax.lax.conv_general_dilated(
                image, kernel, **{"dimension_numbers": LAYOUT, **options}
            )

        result, pull = jax.vjp(convolve, image, kernel)
        return [result, *pull(jnp.sin(result))]

    return run


def both(
    function: Callable[..., Any], *operands: Any, thresholds: Thresholds = ANY
) -> tuple[list[Any], list[Any], list[str]]:
    """Runs a function both ways.

    Args:
        function: of arrays.
        *operands: for it.
        thresholds: how large an operation must be.

    Returns:
        Results as XLA lowers it, results with the rewrites, and the names of the rewrites that were taken.
    """
    program = jax.make_jaxpr(function)(*operands)
    better = for_cpu(program, thresholds)
    leaves = jax.tree.leaves(operands)
    plain = jax.jit(jaxpr_as_fun(program))(*leaves)
    return plain, jax.jit(jaxpr_as_fun(better))(*leaves), taken(better)


def taken(program: Any) -> list[str]:
    """Names the rewrites in a program, in its order, those in loops and called functions too."""
    jaxpr = program.jaxpr if isinstance(program, ClosedJaxpr) else program
    names: list[str] = []
    for equation in jaxpr.eqns:
        if equation.params.get("name") in FORMS:
            names.append(equation.params["name"])
            continue
        for inner in map(opened, programs_in(equation.params)):
            names += taken(inner)
    return names


def assert_close(plain: list[Any], better: list[Any]) -> None:
    """Compares convolutions: sums in another order differ in the last bits."""
    for expected, actual in zip(plain, better, strict=True):
        assert (expected.shape, expected.dtype) == (actual.shape, actual.dtype)
        of_type = {2: 2e-2, 4: 1e-5, 8: 1e-12}[expected.dtype.itemsize]
        expected, actual = np.asarray(expected, np.float64), np.asarray(actual, np.float64)
        scale = np.abs(expected).max(initial=1.0)
        np.testing.assert_allclose(actual, expected, rtol=0, atol=of_type * scale)
