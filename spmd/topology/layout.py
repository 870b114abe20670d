"""How arrays lie on a mesh: the one place that names a mesh axis.

A *replica* is one position along the *data axes*; it runs the step on its share of the global batch. All
other axes are *model axes*: they divide the work of one replica among its devices, and `jax.shard_map` leaves them to
XLA (they are `Auto` axes).

What is placed is of one of three kinds. *Rows*: each replica has a block of the first axis (batches, masks,
results). *Whole*: each replica has all of it (parameters, metrics). *Local*: each replica has a value of its
own, and the values are stacked along a new first axis.
"""

import dataclasses
import functools
import itertools
import math
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

from spmd.errors import MeshError
from spmd.topology.devices import Device

_REPLICA, _MODEL = "replica", "model"


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

    @functools.cached_property
    def devices_per_replica(self) -> int:
        """How many devices a replica is made of."""
        return _product(self.mesh, self.model_axes)

    @property
    def replica_devices(self) -> np.ndarray[Any, Any]:
        """The devices as an array of shape `(replicas, devices per replica)`."""
        order = [self.mesh.axis_names.index(axis) for axis in (*self.data_axes, *self.model_axes)]
        return self.mesh.devices.transpose(order).reshape(self.replicas, -1)

    @property
    def first_replicas(self) -> list[int]:
        """The first replica of each process."""
        processes = [row[0].process_index for row in self.replica_devices]
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

    def split(self, parts: Sequence[int]) -> NamedSharding:
        """Returns the sharding of what each replica has all of, divided among its devices.

        Args:
            parts: into how many parts each axis of the array is divided. Devices that are left over have copies.

        Returns:
            The sharding; model axes go to the axes of the array in order.

        Raises:
            MeshError: the model axes cannot be dealt out like this.

        Examples:
            >>> import spmd
            >>> mesh = spmd.make_mesh([f"cpu:{i}" for i in range(8)], model=(2, 2))
            >>> [layout_of(mesh).split(parts).shard_shape((8, 8)) for parts in ((1, 4), (2, 1))]
            [(8, 2), (4, 8)]
        """
        if any(part < 1 for part in parts):
            raise MeshError(
                f"An array is divided into one part or more along each axis, but got {tuple(parts)}."
            )
        entries = self._dealt(tuple(parts), self.model_axes)
        if entries is None:
            sizes = tuple(self.mesh.shape[axis] for axis in self.model_axes)
            raise MeshError(
                f"An array cannot be divided into {tuple(parts)} parts along its axes: a replica has "
                f"{self.devices_per_replica} device(s), as model axes of {sizes}, and each of these divides one axis "
                "of the array. Make a mesh with the model axes that it takes: spmd.make_mesh(devices, "
                f"model={tuple(part for part in parts if part > 1)})."
            )
        while entries and entries[-1] is None:  # as JAX writes it
            entries.pop()
        return NamedSharding(self.mesh, PartitionSpec(*entries))

    def _dealt(
        self, parts: tuple[int, ...], axes: tuple[str, ...]
    ) -> list[str | tuple[str, ...] | None] | None:
        """Deals model axes out to the axes of an array; None if they do not suffice."""
        if not parts:
            return []
        for count in range(len(axes) + 1):
            for chosen in itertools.combinations(axes, count):
                if _product(self.mesh, chosen) == parts[0]:
                    left = tuple(axis for axis in axes if axis not in chosen)
                    others = self._dealt(parts[1:], left)
                    if others is not None:
                        entry = chosen[0] if count == 1 else chosen or None
                        return [entry, *others]
        return None

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


def grouped_mesh(devices: np.ndarray[Any, Any]) -> Mesh:
    """Makes a mesh of replicas that have several devices each.

    Args:
        devices: array of shape `(replicas, ...)`; each axis after the first becomes a model axis, `"model"` if there is
            one, else `"model_0"` and so on.
    """
    count = devices.ndim - 1
    names = [_MODEL] if count == 1 else [f"{_MODEL}_{index}" for index in range(count)]
    return Mesh(devices, (_REPLICA, *names), axis_types=(AxisType.Auto,) * (count + 1))


def _product(mesh: Mesh, axes: tuple[str, ...]) -> int:
    return math.prod(mesh.shape[axis] for axis in axes)


def axes_of(spec: PartitionSpec) -> set[str]:
    """Returns the mesh axes that the axes of an array are divided along."""
    entries = [entry if isinstance(entry, tuple) else (entry,) for entry in spec]
    return {axis for entry in entries for axis in entry if axis is not None}
