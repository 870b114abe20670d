"""Where the cores of a TPU are: `Topology`, and the one of the devices at hand."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from frontends.tf.tpu import topology_bytes
from spmd.topology import all_devices, physical_coordinates, wanted_simulation

_RANK = 4  # x, y, z, core


class Topology:
    """The cores of a TPU system by task and number, and their coordinates.

    Coordinates are `(x, y, z, core)`: of the chip in the network, and of the core on the chip.

    Examples:
        >>> topology = Topology(
        ...     mesh_shape=[1, 1, 1, 2], device_coordinates=[[[0, 0, 0, 0], [0, 0, 0, 1]]]
        ... )
        >>> topology.num_tasks, topology.num_tpus_per_task
        (1, 2)
        >>> topology.tpu_device_name_at_coordinates([0, 0, 0, 1], job="worker")
        '/job:worker/task:0/device:TPU:1'

    Source: `tf.tpu.experimental.Topology`.
    """

    def __init__(
        self,
        serialized: bytes | None = None,
        mesh_shape: Sequence[int] | None = None,
        device_coordinates: Any = None,
    ) -> None:
        """Makes a topology from its parts, or from bytes.

        Args:
            serialized: what `serialized()` gave, here or in TensorFlow; the others are ignored then.
            mesh_shape: sizes along x, y, z and the cores of a chip.
            device_coordinates: of shape `(tasks, devices of a task, 4)`.

        Raises:
            ValueError: these are no shape and coordinates of a topology.
        """
        self._serialized = serialized
        if serialized:
            mesh_shape, device_coordinates = topology_bytes.read(serialized)
        self._mesh_shape = np.asarray(mesh_shape, np.int32)
        self._device_coordinates = np.asarray(device_coordinates, np.int32)
        if self._mesh_shape.shape != (_RANK,) or (self._mesh_shape < 1).any():
            raise ValueError(
                f"`mesh_shape` must be a sequence of 4 positive entries, x, y, z and core, but is {mesh_shape!r:.80}."
            )
        if self._device_coordinates.ndim != 3 or self._device_coordinates.shape[2] != _RANK:
            raise ValueError(
                "`device_coordinates` must be a rank 3 int32 array of shape (tasks, devices, 4), but its shape is "
                f"{self._device_coordinates.shape}."
            )
        self._tasks = np.full(self._mesh_shape, -1, np.int32)
        self._devices = np.full(self._mesh_shape, -1, np.int32)
        for task, places in enumerate(self._device_coordinates):
            for device, place in enumerate(places):
                self._tasks[tuple(place)] = task
                self._devices[tuple(place)] = device

    @property
    def mesh_shape(self) -> np.ndarray:
        """The sizes along x, y, z and the cores of a chip."""
        return self._mesh_shape

    @property
    def mesh_rank(self) -> int:
        """How many axes there are: 4."""
        return len(self._mesh_shape)

    @property
    def device_coordinates(self) -> np.ndarray:
        """Where each device is, of shape `(tasks, devices of a task, 4)`."""
        return self._device_coordinates

    @property
    def missing_devices(self) -> np.ndarray:
        """Coordinates at which there is no device, a row for each."""
        return np.argwhere(self._tasks < 0)

    @property
    def num_tasks(self) -> int:
        """How many tasks, that is hosts, there are."""
        return self._device_coordinates.shape[0]

    @property
    def num_tpus_per_task(self) -> int:
        """How many devices each task has."""
        return self._device_coordinates.shape[1]

    def task_ordinal_at_coordinates(self, device_coordinates: Sequence[int]) -> int:
        """Returns the number of the task that has the device at some coordinates."""
        return self._tasks[tuple(device_coordinates)]

    def tpu_device_ordinal_at_coordinates(self, device_coordinates: Sequence[int]) -> int:
        """Returns the number, within its task, of the device at some coordinates."""
        return self._devices[tuple(device_coordinates)]

    def cpu_device_name_at_coordinates(
        self, device_coordinates: Sequence[int], job: str | None = None
    ) -> str:
        """Names the processor of the task that has the device at some coordinates."""
        task = self.task_ordinal_at_coordinates(device_coordinates)
        return f"{_job(job)}/task:{task}/device:CPU:0"

    def tpu_device_name_at_coordinates(
        self, device_coordinates: Sequence[int], job: str | None = None
    ) -> str:
        """Names the device at some coordinates."""
        task = self.task_ordinal_at_coordinates(device_coordinates)
        number = self.tpu_device_ordinal_at_coordinates(device_coordinates)
        return f"{_job(job)}/task:{task}/device:TPU:{number}"

    def serialized(self) -> bytes:
        """Returns the topology as bytes, those of TensorFlow's `TopologyProto`."""
        if self._serialized is None:
            self._serialized = topology_bytes.write(self._mesh_shape, self._device_coordinates)
        return self._serialized


def topology_of_devices() -> Topology:
    """Makes the topology of the TPU devices of all processes; starts the backend.

    What they say of their coordinates counts; for simulated ones, those of a slice of their number. Slices of a multislice
    stand one behind the other along x.
    """
    devices = all_devices("tpu")
    simulated = wanted_simulation()
    if simulated is not None:
        block = simulated.slice_of(len(devices))
        places = [block.coordinates(index) for index in range(len(devices))]
    else:
        places = [physical_coordinates(device) or (0, 0, 0, 0) for device in devices]
        width = 1 + max(place[0] for place in places)
        slices = [int(getattr(device, "slice_index", 0) or 0) for device in devices]
        places = [
            (place[0] + width * slices[index], *place[1:]) for index, place in enumerate(places)
        ]
    shape = [1 + max(sizes) for sizes in zip(*places, strict=True)]
    by_device = dict(zip(devices, places, strict=True))
    tasks = sorted({device.process_index for device in devices})
    coordinates = [
        [by_device[device] for device in devices if device.process_index == task] for task in tasks
    ]
    return Topology(mesh_shape=shape, device_coordinates=coordinates)


def device_at(topology: Topology, place: Sequence[int]) -> Any:
    """Returns JAX's device at some coordinates of `topology_of_devices()`."""
    task = topology.task_ordinal_at_coordinates(place)
    own = [device for device in all_devices("tpu") if device.process_index == task]
    return own[topology.tpu_device_ordinal_at_coordinates(place)]


def _job(job: str | None) -> str:
    return "" if job is None else f"/job:{job}"
