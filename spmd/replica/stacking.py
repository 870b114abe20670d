"""One value for each replica, made a per-replica value."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh

from spmd.replica.axis import axis_index
from spmd.replica.context import current_frame
from spmd.replica.host_values import HostPerReplica, is_text
from spmd.replica.rows import RowLayout
from spmd.replica.values import PerReplica, TracedPerReplica, mask_of_lengths
from spmd.topology import layout_of, place


def stack_replicas(
    values: Sequence[Any], mesh: Mesh
) -> PerReplica | TracedPerReplica | HostPerReplica:
    """Puts one value per replica on the devices; in a step that is traced, the program does.

    Args:
        values: arrays of one dtype, one per replica. If they differ in the number of rows only, the value is padded
            and masked, as a partial batch is.
        mesh: with one replica for each value.

    Returns:
        The values, stacked. Texts, and arrays whose shapes differ in other axes, stay in host memory.

    Raises:
        ValueError: in a step, shapes differ.
        TypeError: the elements are neither numbers nor texts; or they are texts, in a step.
    """
    if current_frame() is not None:
        return _stack_traced(values)
    arrays = [np.asarray(value) for value in values]
    shapes = {array.shape for array in arrays}
    if all(map(is_text, arrays)):
        return HostPerReplica(arrays, mesh)
    if any(array.dtype.kind in "OSU" for array in arrays):
        raise TypeError(
            f"Devices hold numbers and booleans, but these values have elements of type "
            f"{arrays[0].dtype}. Encode them as numbers."
        )
    if len({shape[1:] for shape in shapes}) > 1 or (() in shapes and len(shapes) > 1):
        return HostPerReplica(arrays, mesh)
    layout = layout_of(mesh)
    if len(shapes) == 1:
        return PerReplica(place(np.stack(arrays), layout.local), len(arrays), stacked=True)
    mask = mask_of_lengths(tuple(map(len, arrays)), mesh)
    rows = RowLayout(mask.counts, mask.rows_per_replica)
    padded = np.concatenate(arrays)[rows.row_index]
    padded = padded.reshape(len(arrays), rows.rows_per_replica, *padded.shape[1:])
    return PerReplica(place(padded, layout.local), len(arrays), stacked=True, mask=mask)


def _stack_traced(values: Sequence[Any]) -> TracedPerReplica:
    arrays = [jnp.asarray(value) for value in values]
    shapes = {array.shape for array in arrays}
    if len(shapes) > 1:
        raise ValueError(
            f"One value per replica needs one shape inside of a step, and the shapes are {sorted(shapes)}. Pad them, "
            "or make the value before the step, and pass it."
        )
    own = jax.lax.dynamic_index_in_dim(jnp.stack(arrays), axis_index(), keepdims=False)
    return TracedPerReplica(own)
