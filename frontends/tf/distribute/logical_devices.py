"""Where a value lies among the logical devices of a replica: methods of strategies.

A replica has several *logical devices* where the strategy's mesh has model axes. With one of them, the methods check
their arguments, and return the tensor.
"""

import math
import operator
from collections.abc import Sequence
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
from jax.core import Tracer
from jax.sharding import Mesh, NamedSharding

from frontends.tf._typing import Nested
from spmd.replica import array_of, current_frame, split_over_devices, whole_on_devices
from spmd.topology import Layout, layout_of, place

_Tree = TypeVar("_Tree", bound=Nested)


class LogicalDevices:
    """Methods of strategies whose replicas may have several logical devices.

    Attributes:
        partitions_spmd: whether XLA divides each operation among the logical devices, and puts none on one of them.
    """

    partitions_spmd: bool = False

    @property
    def mesh(self) -> Mesh:
        """The engine's mesh."""
        raise NotImplementedError

    def experimental_split_to_logical_devices(
        self, tensor: Any, partition_dimensions: Sequence[int]
    ) -> jax.Array:
        """Divides a tensor among the logical devices of a replica, and with it the work on it.

        What differs here: outside of `run`, a tensor is put on the devices, divided; a `tf.Variable` made of it stays so.
        An axis of rows of a batch need not divide, since the last batch has fewer.

        Args:
            tensor: of any shape.
            partition_dimensions: into how many parts each axis is divided.

        Returns:
            The same values.

        Raises:
            ValueError: there is not one number for each axis, an axis does not divide, or the product of the numbers is
                not the number of logical devices of a replica.

        Examples:
            >>> from frontends import tf
            >>> strategy = tf.distribute.OneDeviceStrategy("cpu:0")
            >>> strategy.experimental_split_to_logical_devices(tf.ones([2]), [1]).shape
            (2,)

        Source: `tf.distribute.TPUStrategy.experimental_split_to_logical_devices`.
        """
        array, layout = _array(tensor), layout_of(self.mesh)
        parts = tuple(map(operator.index, partition_dimensions))
        _check_parts(array, parts, layout.devices_per_replica)
        if _is_outside(array, layout):
            return place(array, layout.split(parts))
        return split_over_devices(array, parts)

    def experimental_replicate_to_logical_devices(self, tensor: _Tree) -> _Tree:
        """Gives all of a tensor to each logical device of a replica.

        What differs here: outside of `run`, the tensor is put on the devices.

        Args:
            tensor: of any shape; or a structure of tensors.

        Returns:
            The same values.

        Source: `tf.distribute.TPUStrategy.experimental_replicate_to_logical_devices`.
        """
        layout = layout_of(self.mesh)

        def replicate(one: Any) -> jax.Array:
            array = _array(one)
            return _placed_whole(array, layout) if _is_outside(array, layout) else array

        return whole_on_devices(jax.tree.map(replicate, tensor))

    def experimental_assign_to_logical_device(
        self, tensor: Any, logical_device_id: int
    ) -> jax.Array:
        """Asks for a tensor on one logical device of a replica.

        What differs here: XLA divides operations among the devices of a program, and puts none of them on one device. So each
        logical device gets all of the tensor, and the one that was asked for has it.

        Args:
            tensor: of any shape.
            logical_device_id: from 0 to the number of logical devices of a replica less one.

        Returns:
            The same values.

        Raises:
            ValueError: there is no such logical device, or the strategy was told to have XLA divide all operations
                (`experimental_spmd_xla_partitioning`).

        Source: `tf.distribute.TPUStrategy.experimental_assign_to_logical_device`.
        """
        if self.partitions_spmd:
            raise ValueError(
                "A tensor cannot be assigned to a logical device in SPMD mode, in which all of them compute each "
                "operation. Make the strategy with experimental_spmd_xla_partitioning=False, or leave the call out."
            )
        count = layout_of(self.mesh).devices_per_replica
        if not 0 <= operator.index(logical_device_id) < count:
            raise ValueError(
                f"`logical_device_id` must be from 0 to {count - 1}, since a replica has {count} logical device(s), but "
                f"got {logical_device_id}."
            )
        return self.experimental_replicate_to_logical_devices(tensor)


def _array(tensor: Any) -> jax.Array:
    return jnp.asarray(array_of(tensor))


def _is_outside(array: jax.Array, layout: Layout) -> bool:
    """Tells whether an array is one between steps, to be put on devices that divide it."""
    is_traced = current_frame() is not None or isinstance(array, Tracer)
    return layout.devices_per_replica > 1 and not is_traced


def _placed_whole(array: jax.Array, layout: Layout) -> jax.Array:
    sharding = array.sharding
    if isinstance(sharding, NamedSharding) and sharding == layout.whole:
        return array
    return place(array, layout.whole)


def _check_parts(array: jax.Array, parts: tuple[int, ...], count: int) -> None:
    if array.ndim != len(parts):
        raise ValueError(
            f"`partition_dimensions` needs one number for each axis: the tensor has the shape {tuple(array.shape)}, but "
            f"got the {len(parts)} number(s) {parts}."
        )
    frame = current_frame()
    rows = {mask.rows.shape[0] for mask in frame.masks or ()} if frame is not None else set[int]()
    for axis, (size, part) in enumerate(zip(array.shape, parts, strict=True)):
        if part < 1:
            raise ValueError(
                f"`partition_dimensions` are 1 or more, but number {axis} of {parts} is {part}."
            )
        if size % part and not (axis == 0 and size in rows):
            raise ValueError(
                f"Axis {axis} of the tensor cannot be divided into {part} equal parts: it has {size} entries. "
                f"`partition_dimensions` are {parts}, the shape is {tuple(array.shape)}."
            )
    if math.prod(parts) != count:
        raise ValueError(
            f"The product of `partition_dimensions` must be the number of logical devices of a replica, {count}, but "
            f"the product of {parts} is {math.prod(parts)}."
        )
