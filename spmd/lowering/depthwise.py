"""Depthwise convolutions and their gradients, as shifted multiply-adds.

XLA computes a depthwise convolution as one with a kernel that is nearly all zeros, or by its slowest loop.
"""

import functools
import itertools
import math
import operator

import jax
import jax.numpy as jnp
from jax import lax

from spmd.lowering.convolution import Convolution, dilated


def depthwise(conv: Convolution, lhs: jax.Array, rhs: jax.Array) -> jax.Array:
    """Adds up the input, shifted to each position of the window, times the kernel there.

    Args:
        conv: with as many groups as features, and no dilation of the left operand.
        lhs: left operand, the input.
        rhs: right operand, the kernel.

    Returns:
        The convolution.
    """
    # Without a barrier XLA takes the part that lies inside from the image before padding, and reads both.
    image = lax.optimization_barrier(conv.padded(conv.lhs(lhs)))
    kernel = conv.rhs(rhs)
    terms = (_product(part, kernel[place][0], conv) for place, part in conv.at_window(image))
    return conv.result(functools.reduce(operator.add, terms))


def depthwise_input_gradient(conv: Convolution, lhs: jax.Array, rhs: jax.Array) -> jax.Array:
    """Adds up shifts for each residue of the output's index: the dilated operand is mostly zeros.

    Args:
        conv: with as many groups as features, strides of 1 and a dilated left operand.
        lhs: left operand, the gradient of a strided convolution's result.
        rhs: right operand, the kernel.

    Returns:
        The convolution.
    """
    steps, out = conv.lhs_dilation, conv.out_spatial
    counts = [-(-length // step) for length, step in zip(out, steps, strict=True)]
    # shifts[axis][residue]: positions in the window that meet no zeros, and how far they shift.
    shifts = [
        [
            [
                (place, (residue + place * spread - low) // step)
                for place in range(width)
                if (residue + place * spread - low) % step == 0
            ]
            for residue in range(step)
        ]
        for step, width, spread, (low, _) in zip(
            steps, conv.window, conv.rhs_dilation, conv.padding, strict=True
        )
    ]
    padding: list[tuple[int, int]] = []
    for of_axis, count, length in zip(shifts, counts, conv.lhs_shape[1:-1], strict=True):
        distances = [shift for pairs in of_axis for _, shift in pairs]
        padding.append((-min(distances), max(distances) + count - length))
    # A barrier as in `depthwise`.
    image = lax.optimization_barrier(dilated(conv.lhs(lhs), padding, [1] * conv.rank))
    kernel = conv.rhs(rhs)
    batch, features = image.shape[0], image.shape[-1]
    zeros = jnp.zeros((batch, *counts, conv.rhs_shape[-1]), conv.computes_in)

    def of_residue(residues: tuple[int, ...]) -> jax.Array:
        terms: list[jax.Array] = []
        pairs = (of_axis[residue] for of_axis, residue in zip(shifts, residues, strict=True))
        for pair in itertools.product(*pairs):
            place = tuple(at for at, _ in pair)
            start = [shift + low for (_, shift), (low, _) in zip(pair, padding, strict=True)]
            stop = [first + count for first, count in zip(start, counts, strict=True)]
            part = lax.slice(image, (0, *start, 0), (batch, *stop, features))
            terms.append(_product(part, kernel[place][0], conv))
        return functools.reduce(operator.add, terms) if terms else zeros

    def interleaved(residues: tuple[int, ...]) -> jax.Array:
        axis = len(residues)
        if axis == conv.rank:
            return of_residue(residues)
        parts = [interleaved((*residues, residue)) for residue in range(steps[axis])]
        stacked = jnp.stack(parts, axis + 2)
        shape = stacked.shape
        return stacked.reshape(*shape[: axis + 1], -1, *shape[axis + 3 :])

    whole = interleaved(()).reshape(batch, *map(math.prod, zip(counts, steps, strict=True)), -1)
    return conv.result(whole[(slice(None), *map(slice, out))])


def depthwise_kernel_gradient(conv: Convolution, lhs: jax.Array, rhs: jax.Array) -> jax.Array:
    """Sums, for each position in the kernel, the products of input and gradient over all pixels.

    All positions are summed in one pass, per row of the batch first: rows run in parallel.

    Args:
        conv: with as many groups as there are entries in the batch of the left operand.
        lhs: left operand, the input, whose batch are the channels and whose features are the rows.
        rhs: right operand, the gradient of the result.

    Returns:
        The convolution.
    """
    # The rows go first before anything is written, as they do in memory. A barrier as in `depthwise`.
    image = jnp.swapaxes(conv.lhs(lhs), 0, -1)
    image = lax.optimization_barrier(conv.padded(image))
    gradient = jnp.moveaxis(conv.rhs(rhs), -2, 0)
    products = [_product(part, gradient, conv) for _, part in conv.at_output(image)]
    zeros = [jnp.zeros((), conv.computes_in)] * len(products)
    sums = lax.reduce(products, zeros, _add, tuple(range(1, conv.rank + 1)))
    total = jnp.stack(sums).sum(1)
    return conv.result(total.reshape(1, *conv.out_spatial, -1))


def _product(part: jax.Array, other: jax.Array, conv: Convolution) -> jax.Array:
    """Multiplies channels by what belongs to the outputs of each."""
    outputs_of_each = conv.rhs_shape[-1] // part.shape[-1]
    if outputs_of_each > 1:
        part = jnp.repeat(part, outputs_of_each, -1)
    return part.astype(conv.computes_in) * other.astype(conv.computes_in)


def _add(left: list[jax.Array], right: list[jax.Array]) -> list[jax.Array]:
    return [a + b for a, b in zip(left, right, strict=True)]
