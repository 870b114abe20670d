"""Values on the devices of one replica: divided among them, or whole on each.

A replica has several devices where the mesh has a model axis (`spmd.make_mesh(devices, model=2)`). XLA divides its work
among them, and finds out from a few values how: those that variables hold, and those that a step names here. What a value
is does not change, only where its parts are.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec

from spmd.replica.array_like import array_of
from spmd.replica.context import current_frame
from spmd.topology import Layout
from spmd.typing import ArrayLike, PyTree

_Tree = TypeVar("_Tree", bound=PyTree)


def split_over_devices(value: ArrayLike, parts: Sequence[int]) -> jax.Array:
    """Divides a value among the devices of a replica, and with it the work on it.

    Args:
        value: array, of any shape.
        parts: into how many parts each of its axes is divided, one number an axis. Where sizes do not divide, XLA pads
            the last part. Devices that are left over have copies.

    Returns:
        The same values. Outside of a step, where replicas run op by op, and where a replica has one device, the array
        as it is.

    Raises:
        ValueError: there is not one number for each axis.
        MeshError: the model axes of the mesh cannot be dealt out like this.

    Examples:
        >>> import jax.numpy as jnp, spmd
        >>> mesh = spmd.make_mesh([f"cpu:{i}" for i in range(8)], model=2)
        >>> def layer(x, weight):
        ...     weight = spmd.replica.split_over_devices(weight, (1, 2))
        ...     return spmd.all_reduce(jnp.sum(x @ weight))
        >>> step = spmd.Step(layer, mesh)
        >>> float(step(jnp.ones((2, 3)), jnp.ones((3, 4))))
        96.0

    Source: `tf.distribute.TPUStrategy.experimental_split_to_logical_devices`; `jax.lax.with_sharding_constraint`.
    """
    array = jnp.asarray(array_of(value))
    if len(parts) != array.ndim:
        raise ValueError(
            f"split_over_devices needs a number of parts for each axis: the array has the shape {list(array.shape)}, "
            f"and parts are {tuple(parts)}."
        )
    layout = _layout_here()
    return array if layout is None else _constrained(array, layout, layout.split(parts))


def whole_on_devices(tree: _Tree) -> _Tree:
    """Gives each device of a replica all of a value.

    Args:
        tree: pytree of arrays.

    Returns:
        The same values. Outside of a step, where replicas run op by op, and where a replica has one device, they are as
        they were.

    Examples:
        >>> import jax.numpy as jnp, spmd
        >>> mesh = spmd.make_mesh([f"cpu:{i}" for i in range(8)], model=2)
        >>> step = spmd.Step(lambda x: spmd.all_reduce(spmd.replica.whole_on_devices(x) + 1), mesh)
        >>> float(step(1.0))
        8.0

    Source: `tf.distribute.TPUStrategy.experimental_replicate_to_logical_devices`.
    """
    layout = _layout_here()
    if layout is None:
        return tree

    def whole(leaf: ArrayLike) -> jax.Array:
        array = jnp.asarray(array_of(leaf))
        return _constrained(array, layout, layout.whole)

    return jax.tree.map(whole, tree)


def on_first_device(
    function: Callable[..., list[jax.Array]], *arrays: jax.Array
) -> list[jax.Array]:
    """Calls a function on the first device of each replica only: one that calls the host, which XLA cannot divide.

    Args:
        function: takes the arrays; returns arrays, which are numbers or booleans.
        *arrays: of the program.

    Returns:
        Its results, on all devices of the replica.

    Examples:
        >>> import jax, jax.numpy as jnp, spmd
        >>> def ask(x):
        ...     return [jax.pure_callback(lambda x: x + 1, jax.ShapeDtypeStruct((), "float32"), x)]
        >>> mesh = spmd.make_mesh([f"cpu:{i}" for i in range(8)], model=2)
        >>> step = spmd.Step(
        ...     lambda: spmd.all_reduce(spmd.replica.on_first_device(ask, jnp.float32(1))[0]), mesh
        ... )
        >>> float(step())
        8.0

    Source: `jax.debug.callback`, which does so by itself.
    """
    frame, layout = current_frame(), _layout_here()
    if layout is None or (frame is not None and frame.blocks is not None):
        return function(*arrays)
    arrays = tuple(map(jnp.asarray, arrays))
    results = jax.eval_shape(function, *arrays)

    def zeros(*_: jax.Array) -> list[jax.Array]:
        return [jnp.zeros(one.shape, one.dtype) for one in results]

    def run(*values: jax.Array) -> list[jax.Array]:
        index = sum(jax.lax.axis_index(axis) for axis in layout.model_axes)
        found = jax.lax.cond(index == 0, function, zeros, *values)
        return [_summed(one, layout.model_axes) for one in found]

    # In a `shard_map` over the replicas' axis, its mesh is the one of the context.
    return jax.shard_map(
        run,
        in_specs=PartitionSpec(),
        out_specs=PartitionSpec(),
        axis_names=set(layout.model_axes),
        check_vma=False,
    )(*arrays)


def _summed(value: jax.Array, axes: tuple[str, ...]) -> jax.Array:
    if value.dtype == jnp.bool_:
        return jax.lax.psum(value.astype(jnp.int32), axes) > 0
    return jax.lax.psum(value, axes)


def _layout_here() -> Layout | None:
    """Returns the layout of the step that is being traced, if its replicas have several devices."""
    frame = current_frame()
    if frame is None or frame.turns is not None or frame.layout.devices_per_replica == 1:
        return None
    return frame.layout


def _constrained(array: jax.Array, layout: Layout, sharding: NamedSharding) -> jax.Array:
    frame = current_frame()
    if frame is None or frame.blocks is None:
        # In `shard_map` the mesh is the one of the context, whose data axes are taken already.
        return jax.lax.with_sharding_constraint(array, sharding.spec)
    # A program in which replicas have different numbers of rows is one of global arrays. What it does not say is left
    # to XLA: along the data axes, and where an axis is not divided.
    entries = [*sharding.spec, *[None] * (array.ndim - len(sharding.spec))]
    free = [PartitionSpec.UNCONSTRAINED if one is None else one for one in entries]
    return jax.lax.with_sharding_constraint(array, NamedSharding(layout.mesh, PartitionSpec(*free)))
