"""A batch without its data, to compile for ahead of time."""

from typing import cast

import jax
import numpy as np
from jax.sharding import Mesh

from spmd.errors import BatchError
from spmd.input.batch import read_batch
from spmd.input.placement import split_rows
from spmd.replica import RowLayout, deal, share
from spmd.topology import layout_of, make_mesh, num_replicas
from spmd.typing import PyTree


def abstract_batch(batch: PyTree, mesh: Mesh | None = None) -> PyTree:
    """Describes a full batch as `distribute` would hand it out, for `Step.lower`.

    Needs no data and no memory: a step can be compiled while the first batch is still being read. Any
    process may call it; it does not wait for others.

    Args:
        batch: `jax.ShapeDtypeStruct`s, or arrays, of shape `(global batch size, ...)`, in the
            structure of a batch.
        mesh: where the step will run; None takes all devices of the default platform.

    Returns:
        The same structure of `PerReplica`, over descriptions of the global arrays, rows padded to
        a multiple of the number of replicas.

    Raises:
        BatchError: the batch cannot be split over replicas, see `distribute`.

    Examples:
        >>> import jax, jax.numpy as jnp, spmd
        >>> mesh = spmd.make_mesh(["cpu:0"])
        >>> step = spmd.Step(lambda x: spmd.all_reduce(x.sum()), mesh)
        >>> batch = spmd.input.abstract_batch(jax.ShapeDtypeStruct((8, 3), jnp.float32), mesh)
        >>> _ = step.lower(batch).compile()
        >>> step.trace_count
        1

    Source: `jax.ShapeDtypeStruct`, `tf.data.Dataset.element_spec`.
    """
    mesh = make_mesh() if mesh is None else mesh
    sharding = layout_of(mesh).rows
    replicas = num_replicas(mesh)
    parts = read_batch(batch)
    if parts.rows == 0:
        raise BatchError("A batch to compile for needs at least 1 row, but this one has none.")
    layout = RowLayout(deal(parts.rows, replicas), share(parts.rows, replicas))

    def describe(shape: tuple[int, ...], dtype: np.dtype) -> jax.Array:
        # Until it runs, a step looks at shape, dtype and sharding only.
        shape, dtype = (len(layout.mask), *shape), jax.dtypes.canonicalize_dtype(dtype)
        return cast(jax.Array, jax.ShapeDtypeStruct(shape, dtype, sharding=sharding))

    described = parts.rebuild([describe(leaf.shape[1:], leaf.dtype) for leaf in parts.leaves])
    return split_rows(described, layout, describe((), np.dtype(np.bool_)))
