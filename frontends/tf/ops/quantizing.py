"""Numbers as quantized ones would have them: rounded to steps between two bounds, and still floats."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf._typing import TensorLike
from frontends.tf.errors import InvalidArgumentError
from frontends.tf.ops.convert import convert_to_tensor


def fake_quant_with_min_max_args(
    inputs: TensorLike,
    min: float = -6,
    max: float = 6,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> jax.Array:
    """Rounds to steps between two numbers, of which zero is one; the gradient is that of what lies between them.

    Args:
        inputs: of any shape; bounds are moved so that zero is a step.
        min: the lower bound.
        max: the upper bound.
        num_bits: `2 ** num_bits` values there are, or one less with `narrow_range`; from 2 to 16.
        narrow_range: whether the lowest value is left out.

    Raises:
        InvalidArgumentError: the bounds are in the wrong order, or `num_bits` is out of range.

    Source: `tf.quantization.fake_quant_with_min_max_args`.
    """
    if not min < max:
        raise InvalidArgumentError(
            None, None, f"min has to be smaller than max, was: {min} >= {max}"
        )
    return fake_quant_with_min_max_vars(inputs, min, max, num_bits, narrow_range)


def fake_quant_with_min_max_vars(
    inputs: TensorLike,
    min: TensorLike,
    max: TensorLike,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> jax.Array:
    """Rounds as `fake_quant_with_min_max_args`, between numbers that are trained too.

    Args:
        inputs: of any shape.
        min: a number; its gradient is that of what is below it.
        max: a number; its gradient is that of what is above it.
        num_bits: see there.
        narrow_range: see there.

    Raises:
        InvalidArgumentError: a bound is no number, or `num_bits` is out of range.

    Source: `tf.quantization.fake_quant_with_min_max_vars`.
    """
    values, low, high = _floats(inputs, min, max)
    for which, bound in (("min", low), ("max", high)):
        if bound.ndim:
            raise InvalidArgumentError(
                None, None, f"`{which}` must be rank 0 but is rank {bound.ndim}"
            )
    return _rounded(values, low, high, _steps(num_bits, narrow_range))


def fake_quant_with_min_max_vars_per_channel(
    inputs: TensorLike,
    min: TensorLike,
    max: TensorLike,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> jax.Array:
    """Rounds as `fake_quant_with_min_max_vars`, with bounds for each element of the last axis.

    Args:
        inputs: of shape (..., channels).
        min: of shape (channels,).
        max: likewise.
        num_bits: see there.
        narrow_range: see there.

    Raises:
        InvalidArgumentError: the shapes do not fit, or `num_bits` is out of range.

    Source: `tf.quantization.fake_quant_with_min_max_vars_per_channel`.
    """
    values, low, high = _floats(inputs, min, max)
    for which, bound in (("min", low), ("max", high)):
        if bound.shape != values.shape[-1:]:
            raise InvalidArgumentError(
                None,
                None,
                f"{which} has incorrect size, expected {values.shape[-1:]} was {bound.shape}",
            )
    return _rounded(values, low, high, _steps(num_bits, narrow_range))


def fake_quant_with_min_max_args_gradient(
    gradients: TensorLike,
    inputs: TensorLike,
    min: float = -6,
    max: float = 6,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> jax.Array:
    """Gives the gradient of `fake_quant_with_min_max_args` for its inputs.

    Args:
        gradients: of what it gives.
        inputs: what it got, as the other arguments.

    Source: `tf.quantization.fake_quant_with_min_max_args_gradient`.
    """
    function = partial(
        fake_quant_with_min_max_args, min=min, max=max, num_bits=num_bits, narrow_range=narrow_range
    )
    return jax.vjp(function, convert_to_tensor(inputs))[1](convert_to_tensor(gradients))[0]


def fake_quant_with_min_max_vars_gradient(
    gradients: TensorLike,
    inputs: TensorLike,
    min: TensorLike,
    max: TensorLike,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Any:
    """Gives the gradients of `fake_quant_with_min_max_vars` for its inputs and both bounds.

    Args:
        gradients: of what it gives.
        inputs: what it got, as the other arguments.

    Source: `tf.quantization.fake_quant_with_min_max_vars_gradient`.
    """
    function = partial(fake_quant_with_min_max_vars, num_bits=num_bits, narrow_range=narrow_range)
    return jax.vjp(function, *_floats(inputs, min, max))[1](convert_to_tensor(gradients))


def fake_quant_with_min_max_vars_per_channel_gradient(
    gradients: TensorLike,
    inputs: TensorLike,
    min: TensorLike,
    max: TensorLike,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Any:
    """Gives the gradients of `fake_quant_with_min_max_vars_per_channel` for its inputs and both bounds.

    Args:
        gradients: of what it gives.
        inputs: what it got, as the other arguments.

    Source: `tf.quantization.fake_quant_with_min_max_vars_per_channel_gradient`.
    """
    function = partial(
        fake_quant_with_min_max_vars_per_channel, num_bits=num_bits, narrow_range=narrow_range
    )
    return jax.vjp(function, *_floats(inputs, min, max))[1](convert_to_tensor(gradients))


def _floats(*values: TensorLike) -> Any:
    return [convert_to_tensor(value, "float32") for value in values]


def _steps(num_bits: int, narrow_range: bool) -> tuple[int, int]:
    if not 2 <= num_bits <= 16:
        raise InvalidArgumentError(
            None, None, f"num_bits must be between 2 and 16, inclusive, was: {num_bits}"
        )
    return int(narrow_range), 2**num_bits - 1


@partial(jax.custom_vjp, nondiff_argnums=(3,))
def _rounded(
    values: jax.Array, low: jax.Array, high: jax.Array, steps: tuple[int, int]
) -> jax.Array:
    below, above, scale = _moved(low, high, steps)
    shifted = jnp.clip(values, below, above) - below
    is_nothing = (low == 0) & (high == 0)
    safe = jnp.where(is_nothing, 1, scale)
    return jnp.where(is_nothing, 0, jnp.floor(shifted / safe + 0.5) * safe + below)


def _moved(low: jax.Array, high: jax.Array, steps: tuple[int, int]) -> Any:
    """Moves both bounds so that zero is a step; returns them, and the size of a step."""
    first, last = (np.float32(step) for step in steps)
    scale = (high - low) / (last - first)
    zero = first - low / jnp.where(scale == 0, 1, scale)
    # As C rounds: halves go up, of what is above zero.
    zero = jnp.where(zero < first, first, jnp.where(zero > last, last, jnp.floor(zero + 0.5)))
    return (first - zero) * scale, (last - zero) * scale, scale


def _forward(
    values: jax.Array, low: jax.Array, high: jax.Array, steps: tuple[int, int]
) -> tuple[jax.Array, Any]:
    return _rounded(values, low, high, steps), (values, low, high)


def _backward(steps: tuple[int, int], saved: Any, gradient: jax.Array) -> Any:
    values, low, high = saved
    below, above, _ = _moved(low, high, steps)
    is_nothing = (low == 0) & (high == 0)
    is_low, is_high = ((~is_nothing) & one for one in (values < below, values > above))
    axes = tuple(range(values.ndim - low.ndim))
    return (
        jnp.where(is_low | is_high, 0, gradient),
        jnp.sum(jnp.where(is_low, gradient, 0), axes),
        jnp.sum(jnp.where(is_high, gradient, 0), axes),
    )


_rounded.defvjp(_forward, _backward)
