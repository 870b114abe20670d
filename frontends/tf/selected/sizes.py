"""Shapes of selected arrays: sizes, and selections where only the running program knows the size."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf.selected.selection import Marked, Selection, SelectionError


class SelectedShape:
    """What `tf.shape` returns of a selected array.

    Attributes:
        sizes: numbers and selections.
    """

    __slots__ = ("sizes",)

    def __init__(self, sizes: Sequence[int | Selection]) -> None:
        """Lists the sizes."""
        self.sizes = tuple(sizes)

    def __getitem__(self, key: Any) -> Any:
        found = self.sizes[key]
        return SelectedShape(found) if isinstance(found, tuple) else _number(found)

    def __len__(self) -> int:
        return len(self.sizes)

    def __jax_array__(self) -> jax.Array:
        return jnp.stack([jnp.asarray(_number(size), jnp.int32) for size in self.sizes])

    def __repr__(self) -> str:
        sizes = ["?" if isinstance(size, Selection) else str(size) for size in self.sizes]
        return f"SelectedShape({', '.join(sizes)})"


def _number(size: int | Selection) -> Any:
    return size.count() if isinstance(size, Selection) else size


def shape_of(value: Marked) -> SelectedShape:
    """Returns the shape of an array."""
    sizes = zip(value.array.shape, value.marks, strict=True)
    return SelectedShape([size if mark is None else mark for size, mark in sizes])


def common_shape(first: Any, second: Any) -> SelectedShape:
    """Returns the shape that arrays of two shapes have together; one at least is a `SelectedShape`.

    Raises:
        SelectionError: the selections of an axis differ.
        ValueError: the sizes do not fit.
    """
    sides = [
        list(one.sizes if isinstance(one, SelectedShape) else np.asarray(one).tolist())
        for one in (first, second)
    ]
    rank = max(map(len, sides))
    x, y = ([1] * (rank - len(side)) + side for side in sides)
    return SelectedShape([_common(one, other) for one, other in zip(x, y, strict=True)])


def _common(one: Any, other: Any) -> Any:
    for size, rest in ((one, other), (other, one)):
        if isinstance(size, int) and size == 1:
            return rest
    if isinstance(one, Selection) and isinstance(other, Selection) and one.same(other):
        return one
    if isinstance(one, Selection) or isinstance(other, Selection):
        raise SelectionError("tf.broadcast_dynamic_shape")
    if one != other:
        raise ValueError(f"Sizes {one} and {other} of two shapes do not fit together.")
    return one


def broadcast(value: Marked, shape: SelectedShape) -> Marked:
    """Repeats an array to a shape."""
    sizes = [size.size if isinstance(size, Selection) else size for size in shape.sizes]
    marks = [size if isinstance(size, Selection) else None for size in shape.sizes]
    own = (None,) * (len(sizes) - len(value.marks)) + value.marks
    kept = [mark if mark is not None else given for mark, given in zip(own, marks, strict=True)]
    return Marked(jnp.broadcast_to(value.array, sizes), tuple(kept))
