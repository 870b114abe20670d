"""Makes selected arrays of arrays and masks."""

from typing import Any

import jax.numpy as jnp

from frontends.tf.ops.map_stream import in_compiled_map, is_only_for_shapes
from frontends.tf.selected.selected import Selected
from frontends.tf.selected.selection import Marked, Selection, filled


def takes_masks() -> bool:
    """Tells whether masks may take entries: not in a map function of a dataset, which runs on elements instead."""
    return not (in_compiled_map() or is_only_for_shapes())


def masked(values: Any, mask: Any, axis: int = 0) -> Selected:
    """Takes the entries that a mask marks, along the axes that it has.

    Args:
        values: an array of the mask's shape from `axis` on.
        mask: booleans that only the running program knows.
        axis: the first axis of the mask.

    Raises:
        ValueError: the shapes do not fit.
    """
    shape = values.shape
    end = axis + mask.ndim
    if not mask.ndim or shape[axis:end] != mask.shape:
        raise ValueError(
            f"tf.boolean_mask: the mask has the shape {mask.shape}, which is not that of the array from axis {axis} on: {shape}."
        )
    return _of(values.reshape(*shape[:axis], mask.size, *shape[end:]), mask, axis)


def coordinates(condition: Any) -> Selected:
    """Lists the coordinates of True, `[count, condition.ndim]`."""
    places = jnp.unravel_index(jnp.arange(condition.size), condition.shape)
    return _of(jnp.stack(places, -1), condition, 0)


def _of(values: Any, mask: Any, axis: int) -> Selected:
    marks: list[Selection | None] = [None] * values.ndim
    marks[axis] = Selection(mask.reshape(-1), mask)
    value = Marked(values, tuple(marks))
    return Selected(value._replace(array=filled(value, 1)))
