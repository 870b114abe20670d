"""Convolutions in groups of several channels, and their kernel gradients, as of ResNeXt and `Conv2D(groups=32)`.

XLA computes them one product after the other. Several groups become one convolution here, whose kernel has zeros where an
input and an output belong to different groups: products with zeros cost less than slow code.
"""

import jax
import jax.numpy as jnp

from spmd.lowering.convolution import Convolution, convolve

# Channels of a convolution that several groups become: with fewer, products are slow; with more, most are with zeros.
_CHANNELS = 64
# How many convolutions the groups become at most: XLA is not slow for more, but for their kernel gradients.
_PARTS, _PARTS_OF_GRADIENT = 16, 64


def grouped(conv: Convolution, lhs: jax.Array, rhs: jax.Array) -> jax.Array:
    """Convolves several groups at once.

    Args:
        conv: with groups of features.
        lhs: left operand.
        rhs: right operand.

    Returns:
        The convolution.
    """
    groups, together = conv.feature_groups, together_in(conv)
    assert together is not None
    kernel = conv.rhs(rhs)
    kernel = kernel.reshape(*kernel.shape[:-1], groups // together, together, -1)
    images = jnp.split(conv.lhs(lhs), groups // together, axis=-1)
    parts = [
        convolve(conv, image, _with_zeros(kernel[..., index, :, :]), conv.computes_in)
        for index, image in enumerate(images)
    ]
    return conv.result(jnp.concatenate(parts, axis=-1))


def together_in(conv: Convolution) -> int | None:
    """Tells how many groups of features become one convolution; None if they are too many, or too wide."""
    groups = conv.feature_groups
    return _together(groups, max(conv.rhs_shape[-2], conv.rhs_shape[-1] // groups), _PARTS)


def grouped_kernel_gradient(conv: Convolution, lhs: jax.Array, rhs: jax.Array) -> jax.Array:
    """Convolves several groups at once, and drops the products of different groups.

    Args:
        conv: with groups of the batch.
        lhs: left operand, the input.
        rhs: right operand, the gradient of the result.

    Returns:
        The convolution.
    """
    groups = conv.batch_groups
    each, outputs = conv.lhs_shape[0] // groups, conv.rhs_shape[-1] // groups
    together = _together(groups, max(each, outputs), _PARTS_OF_GRADIENT)
    if together is None:  # XLA would take longer still
        together = next(
            count for count in _divisors(groups) if groups // count <= _PARTS_OF_GRADIENT
        )
    parts: list[jax.Array] = []
    for image, gradient in zip(
        jnp.split(conv.lhs(lhs), groups // together, axis=0),
        jnp.split(conv.rhs(rhs), groups // together, axis=-1),
        strict=True,
    ):
        whole = convolve(conv, image, gradient, conv.computes_in)
        whole = whole.reshape(together, each, *conv.out_spatial, together, outputs)
        own = jnp.diagonal(whole, axis1=0, axis2=-2)  # which comes last
        parts.append(jnp.swapaxes(own, -1, -2).reshape(each, *conv.out_spatial, -1))
    return conv.result(jnp.concatenate(parts, axis=-1))


def _together(groups: int, channels: int, parts: int) -> int | None:
    """Tells how many groups become one of so many convolutions at most.

    Examples:
        >>> _together(32, 4, 16), _together(4, 16, 16), _together(2, 128, 16), _together(37, 4, 16)
        (16, 4, 1, None)
    """
    few = [count for count in _divisors(groups) if groups // count <= parts]
    narrow = [count for count in few if count == 1 or count * channels <= _CHANNELS]
    return narrow[-1] if narrow else None


def _divisors(groups: int) -> list[int]:
    return [count for count in range(1, groups + 1) if groups % count == 0]


def _with_zeros(kernel: jax.Array) -> jax.Array:
    """Makes the kernel `(*window, groups * features, groups * outputs)` of `(*window, features, groups, outputs)`."""
    *window, features, groups, outputs = kernel.shape
    each = jnp.moveaxis(kernel, -2, -3)[..., None, :]
    same_group = jnp.eye(groups, dtype=bool)[:, None, :, None]
    whole = jnp.where(same_group, each, jnp.zeros((), kernel.dtype))
    return whole.reshape(*window, groups * features, groups * outputs)
