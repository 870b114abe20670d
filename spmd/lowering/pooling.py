"""The gradient of max pooling, bit for bit as XLA's, which scatters one number at a time.

In each window the gradient goes to the first maximum. Its place is found by comparing the window's
positions in turn, for all windows at once, and each input then looks whether it is that place in the
windows that it lies in.
"""

import dataclasses
import itertools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import JaxprEqn

from spmd._jax_internals import aval_of

# A place in the window is kept as a byte.
_PLACE = jnp.uint8
MAX_WINDOW = 254


@dataclasses.dataclass(frozen=True)
class Pooling:
    """What the gradient of max or min pooling is asked for.

    Attributes:
        shape: of the input that was pooled.
        window: its extent, for each dimension.
        strides: of the window.
        padding: low and high, for each dimension.
        is_max: whether the largest is meant, and not the smallest.
        dtype: of the input.
    """

    shape: tuple[int, ...]
    window: tuple[int, ...]
    strides: tuple[int, ...]
    padding: tuple[tuple[int, int], ...]
    is_max: bool
    dtype: np.dtype[Any]

    @classmethod
    def of(cls, equation: JaxprEqn) -> "Pooling":
        """Reads it from an equation of a jaxpr.

        Args:
            equation: a `jax.extend.core.JaxprEqn` of `select_and_scatter_add`.
        """
        params = equation.params
        operand = aval_of(equation.invars[1])
        return cls(
            shape=tuple(operand.shape),
            window=tuple(params["window_dimensions"]),
            strides=tuple(params["window_strides"]),
            padding=tuple(map(tuple, params["padding"])),
            is_max=params["select_prim"].name == "ge",
            dtype=operand.dtype,
        )

    @property
    def overlapping(self) -> tuple[int, ...]:
        """In how many windows an input may lie, for each dimension."""
        return tuple(
            -(-width // stride) for width, stride in zip(self.window, self.strides, strict=True)
        )


def max_pool_gradient(pooling: Pooling, source: jax.Array, operand: jax.Array) -> jax.Array:
    """Brings the gradient of each window to the window's first maximum.

    Args:
        pooling: what was pooled, and how; the window has at most `MAX_WINDOW` positions.
        source: gradient of the pooled result.
        operand: the input that was pooled.

    Returns:
        Gradient of the input.
    """
    # Padding takes part in comparisons, as it does in JAX's own lowering for processors.
    fill = -jnp.inf if pooling.is_max else jnp.inf
    padded = lax.pad(
        operand, jnp.asarray(fill, operand.dtype), [(low, high, 0) for low, high in pooling.padding]
    )
    winner = _winner(pooling, padded, source.shape)
    # An input's index is its stride's number and a residue; the windows that it lies in are those whose
    # number is at most that of the stride, by less than `overlapping`.
    counts = [
        -(-size // stride) for size, stride in zip(padded.shape, pooling.strides, strict=True)
    ]
    edges = [
        (many - 1, count - size, 0)
        for many, count, size in zip(pooling.overlapping, counts, source.shape, strict=True)
    ]
    if any(map(any, edges)):
        nobody = jnp.asarray(math.prod(pooling.window), _PLACE)
        winner = lax.pad(winner, nobody, edges)
        source = lax.pad(source, jnp.zeros((), source.dtype), edges)
    split = [number for pair in zip(counts, pooling.strides, strict=True) for number in pair]
    total = jnp.zeros(split, source.dtype)
    # XLA adds window by window, and rounds each time; so the order is that of the windows.
    for back in itertools.product(*(range(many - 1, -1, -1) for many in pooling.overlapping)):
        start = [many - 1 - by for many, by in zip(pooling.overlapping, back, strict=True)]
        stop = [first + count for first, count in zip(start, counts, strict=True)]
        here = _by_residue(lax.slice(winner, start, stop)) == _place(pooling, back)
        total = total + jnp.where(here, _by_residue(lax.slice(source, start, stop)), 0)
        if source.dtype.itemsize < 4:
            info = jnp.finfo(total.dtype)
            total = lax.reduce_precision(total, info.nexp, info.nmant)
    whole = total.reshape(
        [count * stride for count, stride in zip(counts, pooling.strides, strict=True)]
    )
    start = [low for low, _ in pooling.padding]
    stop = [first + size for first, size in zip(start, pooling.shape, strict=True)]
    return lax.slice(whole, start, stop)


def _winner(pooling: Pooling, padded: jax.Array, out: tuple[int, ...]) -> jax.Array:
    """Gives the place of the first maximum in each window, as a number in the order of the window."""
    best, winner = None, jnp.zeros(out, _PLACE)
    for number, place in enumerate(itertools.product(*map(range, pooling.window))):
        stop = [
            at + (size - 1) * stride + 1
            for at, size, stride in zip(place, out, pooling.strides, strict=True)
        ]
        rival = lax.slice(padded, place, stop, pooling.strides)
        if best is None:
            best = rival
            continue
        # Not the opposite comparison: a NaN gives way to whatever follows, and takes any place.
        stays = best >= rival if pooling.is_max else best <= rival
        best = jnp.where(stays, best, rival)
        winner = jnp.where(stays, winner, jnp.asarray(number, _PLACE))
    return winner


def _by_residue(of_strides: jax.Array) -> jax.Array:
    """Gives each dimension another one after it, for the residues, to be broadcast over."""
    return of_strides.reshape([size for number in of_strides.shape for size in (number, 1)])


def _place(pooling: Pooling, back: tuple[int, ...]) -> jax.Array:
    """Gives the place that an input has in the window `back` strides before it, for each residue."""
    rank, number, inside = len(back), jnp.zeros((), jnp.int32), jnp.asarray(True)
    for axis, (by, width, stride) in enumerate(
        zip(back, pooling.window, pooling.strides, strict=True)
    ):
        shape = [1] * (2 * rank)
        shape[2 * axis + 1] = stride
        place = lax.broadcasted_iota(jnp.int32, shape, 2 * axis + 1) + by * stride
        number = number * width + place
        inside = inside & (place < width)
    # A number that nothing has: what lies outside of all windows has the number of positions.
    return jnp.where(inside, number, MAX_WINDOW + 1).astype(_PLACE)
