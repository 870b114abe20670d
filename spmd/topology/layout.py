"""How arrays lie on a mesh: the one place that names a mesh axis.

A *replica* is one position along the *data axes*; it runs the step on its share of the global batch. All
other axes are *model axes*: they divide the work of one replica, and `jax.shard_map` leaves them to XLA.

What is placed is of one of three kinds. *Rows*: each replica has a block of the first axis (batches, masks,
results). *Whole*: each replica has all of it (parameters, metrics). *Local*: each replica has a value of its
own, and the values are stacked along a new first axis.
"""

import dataclasses
import functools
import math
from collections.abc import Sequence

import jax
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

from spmd.errors import MeshError
from spmd.topology.devices import Device

_REPLICA = "replica"


@dataclasses.dataclass(frozen=True)
class Layout:
    """The axes of a mesh, and where on it each kind of array lies.

    Attributes:
        mesh: the devices.
        data_axes: axes along which replicas are counted.
        model_axes: axes that divide the work of one replica.

    Examples:
        >>> import spmd
        >>> layout = layout_of(spmd.make_mesh(["cpu:0", "cpu:1"]))
        >>> layout.replicas, layout.axis, layout.model_axes
        (2, 'replica', ())
        >>> layout.rows.shard_shape((8, 3)), layout.whole.shard_shape((8, 3))
        ((4, 3), (8, 3))
    """

    mesh: Mesh
    data_axes: tuple[str, ...] = (_REPLICA,)
    model_axes: tuple[str, ...] = ()

    @property
    def axis(self) -> str | tuple[str, ...]:
        """The data axes as `jax.lax.psum` and a `PartitionSpec` take them."""
        return self.data_axes[0] if len(self.data_axes) == 1 else self.data_axes

    @functools.cached_property
    def replicas(self) -> int:
        """How many replicas there are."""
        return _product(self.mesh, self.data_axes)

    @property
    def first_replicas(self) -> list[int]:
        """The first replica of each process."""
        order = [self.mesh.axis_names.index(axis) for axis in (*self.data_axes, *self.model_axes)]
        devices = self.mesh.devices.transpose(order).reshape(self.replicas, -1)
        processes = [row[0].process_index for row in devices]
        return sorted({process: processes.index(process) for process in processes}.values())

    @property
    def own_replicas(self) -> list[int]:
        """The replicas that have devices of this process."""
        spans = self.rows.addressable_devices_indices_map((self.replicas,))
        return sorted({span[0].indices(self.replicas)[0] for span in spans.values() if span})

    @functools.cached_property
    def local_replicas(self) -> int:
        """How many of them have devices of this process."""
        mesh = self.mesh.local_mesh if self.mesh.is_multi_process else self.mesh
        return _product(mesh, self.data_axes)

    @functools.cached_property
    def rows(self) -> NamedSharding:
        """The sharding of what each replica has a block of."""
        return NamedSharding(self.mesh, PartitionSpec(self.axis))

    @functools.cached_property
    def whole(self) -> NamedSharding:
        """The sharding of what each replica has all of."""
        return NamedSharding(self.mesh, PartitionSpec())

    @property
    def local(self) -> NamedSharding:
        """The sharding of stacked values, one of each replica."""
        return self.rows  # along an axis that stacking has added

    def of_state(self, value: object, *, local: bool) -> NamedSharding:
        """Returns where a variable lies; one that is divided along model axes only stays so.

        Args:
            value: of the variable.
            local: whether each replica has a value of its own.

        Examples:
            >>> import jax.numpy as jnp, spmd
            >>> layout = layout_of(spmd.make_mesh(["cpu:0"]))
            >>> layout.of_state(jnp.ones(3), local=False) == layout.whole
            True
        """
        if local:
            return self.local
        sharding = value.sharding if self.model_axes and isinstance(value, jax.Array) else None
        if not isinstance(sharding, NamedSharding) or sharding.mesh != self.mesh:
            return self.whole
        return sharding if axes_of(sharding.spec) <= set(self.model_axes) else self.whole


@functools.lru_cache(maxsize=64)
def layout_of(mesh: Mesh) -> Layout:
    """Returns the layout of a mesh.

    Args:
        mesh: a mesh with the axis `"replica"`; any other is a model axis.

    Raises:
        MeshError: the mesh has no such axis.

    Examples:
        >>> import spmd
        >>> layout_of(spmd.make_mesh(["cpu:0"])).data_axes
        ('replica',)
    """
    if _REPLICA not in mesh.shape:
        raise MeshError(
            f"Expected a mesh with the axis {_REPLICA!r}, but this one has {mesh.axis_names}. "
            "Make one with spmd.make_mesh(devices)."
        )
    return Layout(mesh, model_axes=tuple(name for name in mesh.axis_names if name != _REPLICA))


def num_replicas(mesh: Mesh) -> int:
    """Returns how many replicas a mesh has.

    Args:
        mesh: a mesh with the axis `"replica"`.

    Raises:
        MeshError: the mesh has no such axis.

    Examples:
        >>> import spmd
        >>> num_replicas(spmd.make_mesh(["cpu:0"]))
        1
    """
    return layout_of(mesh).replicas


def replica_mesh(devices: Sequence[Device]) -> Mesh:
    """Makes a mesh of one replica for each device."""
    return Mesh(np.array(devices), (_REPLICA,), axis_types=(AxisType.Auto,))


def _product(mesh: Mesh, axes: tuple[str, ...]) -> int:
    return math.prod(mesh.shape[axis] for axis in axes)


def axes_of(spec: PartitionSpec) -> set[str]:
    """Returns the mesh axes that the axes of an array are divided along."""
    entries = [entry if isinstance(entry, tuple) else (entry,) for entry in spec]
    return {axis for entry in entries for axis in entry if axis is not None}
