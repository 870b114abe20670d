"""`tf.layers.InputSpec`: which inputs a layer takes."""

import dataclasses
from collections.abc import Mapping

import jax
import jax.numpy as jnp

from frontends.tf._typing import DTypeLike, ShapeLike
from frontends.tf.dtypes import jax_dtype
from frontends.tf.tensor_shape import TensorShape


@dataclasses.dataclass(frozen=True)
class InputSpec:
    """What a layer checks of its input; None takes anything.

    Attributes:
        dtype: of the elements.
        shape: of the input; sizes that are None take any.
        ndim: number of axes.
        max_ndim: at most so many.
        min_ndim: at least so many.
        axes: sizes by axis.
        floating: whether only floating-point numbers are taken.

    Source: `tf.compat.v1.layers.InputSpec`; `floating` is ours.
    """

    dtype: DTypeLike = None
    shape: ShapeLike = None
    ndim: int | None = None
    max_ndim: int | None = None
    min_ndim: int | None = None
    axes: Mapping[int, int] | None = None
    floating: bool = False

    def check(self, layer: str, x: jax.Array) -> None:
        """Refuses an input that does not fit.

        Args:
            layer: its name.
            x: the input.

        Raises:
            TypeError: it is not of floating-point numbers.
            ValueError: dtype or shape do not fit.
        """
        if self.floating and not jnp.issubdtype(x.dtype, jnp.floating):
            raise TypeError(
                f'Layer "{layer}" takes floating-point numbers, but its input is of type {x.dtype}. Convert it: '
                "tf.cast(x, tf.float32)."
            )
        found = self._misfit(x)
        if found:
            raise ValueError(
                f'Input 0 of layer "{layer}" is incompatible with the layer: {found}. Full shape received: {x.shape}. Bring '
                "it into shape first, as by tf.reshape, or make another layer for it."
            )

    def _misfit(self, x: jax.Array) -> str | None:
        if self.ndim is not None and x.ndim != self.ndim:
            return f"expected ndim={self.ndim}, found ndim={x.ndim}"
        if self.max_ndim is not None and x.ndim > self.max_ndim:
            return f"expected max_ndim={self.max_ndim}, found ndim={x.ndim}"
        if self.min_ndim is not None and x.ndim < self.min_ndim:
            return f"expected min_ndim={self.min_ndim}, found ndim={x.ndim}"
        if self.dtype is not None and x.dtype != jax_dtype(self.dtype):
            return f"expected dtype={jax_dtype(self.dtype)}, found dtype={x.dtype}"
        for axis, size in (self.axes or {}).items():
            if x.shape[axis] != size:
                return f"expected axis {axis} of input shape to have value {size}, found {x.shape[axis]}"
        if self.shape is not None and not TensorShape(self.shape).is_compatible_with(x.shape):
            return f"expected shape={tuple(TensorShape(self.shape))}, found shape={x.shape}"
        return None
