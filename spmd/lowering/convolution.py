"""`Convolution`: the geometry of a convolution, and views of its operands that do not depend on layouts.

The *window* is the extent of the right operand. A gradient is a convolution as well: that with regard to
the input has a dilated left operand, that with regard to the kernel has a large window (the gradient of the
output) and a small output (the kernel). All rewrites see the left operand as `(batch, *spatial, features)`, the
right one as `(*window, features, outputs)`, and give `(batch, *spatial, outputs)`.
"""

import dataclasses
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import JaxprEqn

from spmd._jax_internals import aval_of


@dataclasses.dataclass(frozen=True)
class Convolution:
    """What `lax.conv_general_dilated` is asked for.

    Attributes:
        lhs_shape: shape of the left operand, as `(batch, *spatial, features)`.
        rhs_shape: shape of the right operand, as `(*window, features, outputs)`.
        out_spatial: spatial extent of the result.
        strides: of the window.
        padding: low and high, for each spatial dimension.
        lhs_dilation: distance of neighbours in the left operand.
        rhs_dilation: likewise in the window.
        layouts: of both operands and the result, as in `lax.ConvDimensionNumbers`.
        feature_groups: into how many groups features and outputs are split.
        batch_groups: into how many groups batch and outputs are split.
        precision: of products.
        dtype: of the result.
    """

    lhs_shape: tuple[int, ...]
    rhs_shape: tuple[int, ...]
    out_spatial: tuple[int, ...]
    strides: tuple[int, ...]
    padding: tuple[tuple[int, int], ...]
    lhs_dilation: tuple[int, ...]
    rhs_dilation: tuple[int, ...]
    layouts: tuple[tuple[int, ...], ...]
    feature_groups: int
    batch_groups: int
    precision: lax.PrecisionLike
    dtype: np.dtype[Any]

    @classmethod
    def of(cls, equation: JaxprEqn) -> "Convolution":
        """Reads the geometry from an equation of a jaxpr.

        Args:
            equation: a `jax.extend.core.JaxprEqn` of `conv_general_dilated`.
        """
        params = equation.params
        layouts = tuple(params["dimension_numbers"])
        lhs, rhs, out = map(aval_of, (*equation.invars, *equation.outvars))
        return cls(
            lhs_shape=tuple(lhs.shape[axis] for axis in _features_last(layouts[0])),
            rhs_shape=tuple(rhs.shape[axis] for axis in _window_first(layouts[1])),
            out_spatial=tuple(out.shape[axis] for axis in layouts[2][2:]),
            strides=tuple(params["window_strides"]),
            padding=tuple(map(tuple, params["padding"])),
            lhs_dilation=tuple(params["lhs_dilation"]),
            rhs_dilation=tuple(params["rhs_dilation"]),
            layouts=layouts,
            feature_groups=params["feature_group_count"],
            batch_groups=params["batch_group_count"],
            precision=params["precision"],
            dtype=out.dtype,
        )

    @property
    def rank(self) -> int:
        """How many spatial dimensions there are."""
        return len(self.strides)

    @property
    def is_plain(self) -> bool:
        """Whether operands and result lie in the order of the rewrites."""
        order = tuple(range(self.rank + 2))
        lhs, rhs, out = self.layouts
        return _features_last(lhs) == _window_first(rhs) == _features_last(out) == order

    @property
    def window(self) -> tuple[int, ...]:
        """Extent of the window."""
        return self.rhs_shape[:-2]

    @property
    def is_kernel_gradient(self) -> bool:
        """Whether this is the gradient of another by its kernel, by its extents; batch and channels have changed places there."""
        return math.prod(self.out_spatial) < math.prod(self.window)

    @property
    def is_unit_spaced(self) -> bool:
        """Whether the window has no gaps and moves by one pixel."""
        return math.prod(self.strides) == math.prod(self.rhs_dilation) == 1

    @property
    def work(self) -> int:
        """How many multiplications there are, of those that are not with zeros between the pixels."""
        batch = self.lhs_shape[0] // self.batch_groups
        outputs = batch * math.prod(self.out_spatial) * self.rhs_shape[-1]
        return outputs * math.prod(self.rhs_shape[:-1]) // math.prod(self.lhs_dilation)

    @property
    def computes_in(self) -> np.dtype[Any]:
        """The type in which sums are kept: at least 32 bits, as XLA does."""
        return jnp.promote_types(self.dtype, jnp.float32)

    def lhs(self, operand: jax.Array) -> jax.Array:
        """Brings the left operand into the order `(batch, *spatial, features)`."""
        return operand.transpose(_features_last(self.layouts[0]))

    def rhs(self, operand: jax.Array) -> jax.Array:
        """Brings the right operand into the order `(*window, features, outputs)`."""
        return operand.transpose(_window_first(self.layouts[1]))

    def result(self, value: jax.Array) -> jax.Array:
        """Brings `(batch, *spatial, outputs)` into the layout and type of the result."""
        order = _features_last(self.layouts[2])
        return value.astype(self.dtype).transpose([order.index(axis) for axis in range(len(order))])

    def padded(self, operand: jax.Array) -> jax.Array:
        """Pads (or cuts) and dilates the left operand."""
        return dilated(operand, self.padding, self.lhs_dilation)

    def at_window(self, operand: jax.Array) -> Iterator[tuple[tuple[int, ...], jax.Array]]:
        """Gives each position in the window with what is under it, for all places of the window.

        Args:
            operand: the padded left one.

        Yields:
            Position and array of shape `(batch, *out_spatial, features)`.
        """
        return _slices(operand, self.window, self.rhs_dilation, self.out_spatial, self.strides)

    def at_output(self, operand: jax.Array) -> Iterator[tuple[tuple[int, ...], jax.Array]]:
        """Gives each position in the output with what lies in the window there.

        Args:
            operand: the padded left one.

        Yields:
            Position and array of shape `(batch, *window, features)`.
        """
        return _slices(operand, self.out_spatial, self.strides, self.window, self.rhs_dilation)


def convolve(
    conv: Convolution,
    lhs: jax.Array,
    rhs: jax.Array,
    dtype: np.dtype[Any],
    feature_groups: int = 1,
    batch_groups: int = 1,
) -> jax.Array:
    """Convolves operands in the order of the rewrites.

    Args:
        conv: the geometry; its groups do not count.
        lhs: of shape `(batch, *spatial, features)`.
        rhs: of shape `(*window, features, outputs)`.
        dtype: of the result.
        feature_groups: into how many groups features and outputs are split.
        batch_groups: into how many groups batch and outputs are split.

    Returns:
        An array of shape `(batch, *spatial, outputs)`.
    """
    last = conv.rank + 1
    image = 0, last, *range(1, last)
    return lax.conv_general_dilated(
        lhs,
        rhs,
        conv.strides,
        conv.padding,
        conv.lhs_dilation,
        conv.rhs_dilation,
        lax.ConvDimensionNumbers(image, (last, last - 1, *range(last - 1)), image),
        feature_groups,
        batch_groups,
        conv.precision,
        dtype,
    )


def dilated(
    operand: jax.Array, padding: Sequence[tuple[int, int]], dilation: Sequence[int]
) -> jax.Array:
    """Pads (or cuts) and dilates the spatial dimensions of `(batch, *spatial, features)` with zeros.

    Args:
        operand: the array.
        padding: low and high for each spatial dimension; may be negative.
        dilation: distance of neighbours for each spatial dimension.
    """
    config = [(low, high, step - 1) for (low, high), step in zip(padding, dilation, strict=True)]
    if not any(map(any, config)):
        return operand
    return lax.pad(operand, jnp.zeros((), operand.dtype), [(0, 0, 0), *config, (0, 0, 0)])


def _slices(
    operand: jax.Array,
    places: Sequence[int],
    distances: Sequence[int],
    extent: Sequence[int],
    strides: Sequence[int],
) -> Iterator[tuple[tuple[int, ...], jax.Array]]:
    batch, features = operand.shape[0], operand.shape[-1]
    for place in itertools.product(*map(range, places)):
        start = [at * distance for at, distance in zip(place, distances, strict=True)]
        stop = [
            first + (size - 1) * stride + 1
            for first, size, stride in zip(start, extent, strides, strict=True)
        ]
        yield (
            place,
            lax.slice(operand, (0, *start, 0), (batch, *stop, features), (1, *strides, 1)),
        )


def _features_last(layout: Sequence[int]) -> tuple[int, ...]:
    return (layout[0], *layout[2:], layout[1])


def _window_first(layout: Sequence[int]) -> tuple[int, ...]:
    return (*layout[2:], layout[1], layout[0])
