"""Functions of `tf.*` about shapes, and about values that are known while a program is traced."""

from typing import Any

import jax
import numpy as np
from jax.core import Tracer

from frontends.tf._typing import ShapeLike, TensorLike
from frontends.tf.gradient_sources import is_variable
from frontends.tf.ops.convert import convert_to_tensor, has_symbolic_size
from frontends.tf.selected import SelectedShape, common_shape
from frontends.tf.tensor_shape import UNKNOWN, TensorShape


def broadcast_static_shape(shape_x: ShapeLike, shape_y: ShapeLike) -> TensorShape:
    """Returns the shape that arrays of two shapes have together; sizes may be None.

    Raises:
        ValueError: the shapes do not fit.

    Examples:
        >>> broadcast_static_shape([None, 3], [2, 1])
        TensorShape([2, 3])

    Source: `tf.broadcast_static_shape`.
    """
    first, second = TensorShape(shape_x), TensorShape(shape_y)
    if first.rank is None or second.rank is None:
        return UNKNOWN
    rank = max(first.rank, second.rank)
    columns = zip(_filled(first, rank), _filled(second, rank), strict=True)
    found: list[int | None] = []
    for x, y in columns:
        if x == y or 1 in (x, y):
            found.append(y if x == 1 else x)
        elif None in (x, y):
            # The size that is not known must be the other one, or 1.
            found.append(y if x is None else x)
        else:
            raise ValueError(_misfit(first, second))
    return TensorShape(found)


def broadcast_dynamic_shape(shape_x: TensorLike, shape_y: TensorLike) -> Any:
    """Returns the shape that arrays of two shapes have together, as an array of integers.

    Args:
        shape_x: what `tf.shape` returns; shapes are known while a program is traced.
        shape_y: likewise.

    Raises:
        ValueError: the shapes do not fit.

    Source: `tf.broadcast_dynamic_shape`.
    """
    if isinstance(shape_x, SelectedShape) or isinstance(shape_y, SelectedShape):
        return common_shape(shape_x, shape_y)
    first, second = (tuple(np.asarray(shape).tolist()) for shape in (shape_x, shape_y))
    try:
        found = np.asarray(np.broadcast_shapes(first, second), np.int32)
    except ValueError:
        raise ValueError(_misfit(first, second)) from None
    known = any(isinstance(shape, np.ndarray) for shape in (shape_x, shape_y))
    # NumPy's in a program, as from `tf.shape`, so that its items can be sizes.
    return found if known else convert_to_tensor(found)


def get_static_value(tensor: TensorLike, partial: bool = False) -> Any:
    """Returns the value as an array of NumPy; None if only the running program knows it, or of a variable.

    Args:
        tensor: an array, a number, or a list of them.
        partial: of a list, return an array of objects, with None for each part that is not known.

    Source: `tf.get_static_value`.
    """
    if tensor is None or isinstance(tensor, Tracer) or is_variable(tensor):
        return None
    if isinstance(tensor, jax.Array):
        return np.asarray(tensor) if tensor.is_fully_addressable else None
    if isinstance(tensor, list | tuple) and not has_symbolic_size(tensor):
        parts = [get_static_value(one) for one in tensor]
        if any(part is None for part in parts):
            return np.array(parts, dtype=object) if partial else None
        return np.asarray(parts)
    return tensor


def _filled(shape: TensorShape, rank: int) -> list[int | None]:
    return [1] * (rank - len(shape)) + list(shape)


def _misfit(first: Any, second: Any) -> str:
    return (
        "Incompatible shapes for broadcasting. Two shapes are compatible if for each dimension pair they are either equal "
        f"or one of them is 1. Received: {tuple(first)} and {tuple(second)}."
    )
