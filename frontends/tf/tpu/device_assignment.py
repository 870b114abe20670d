"""Which cores of a TPU each replica gets: TensorFlow's `DeviceAssignment`, with its numbers."""

import enum
import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from frontends.tf.tpu.rings import ring
from frontends.tf.tpu.topology import Topology


class DeviceOrderMode(enum.IntEnum):
    """How replicas are laid out: as rings of linked chips, as a mesh, or as what fits.

    Source: `tf.tpu.experimental.DeviceOrderMode`.
    """

    AUTO = 0
    RING = 1
    MESH = 2


class DeviceAssignment:
    """The cores of each replica, by coordinates.

    Examples:
        >>> cores = [[[x, y, 0, core] for y in (0, 1) for x in (0, 1) for core in (0, 1)]]
        >>> topology = Topology(mesh_shape=[2, 2, 1, 2], device_coordinates=cores)
        >>> assignment = DeviceAssignment.build(
        ...     topology, computation_shape=[1, 1, 1, 2], num_replicas=4
        ... )
        >>> assignment.num_replicas, assignment.num_cores_per_replica
        (4, 2)
        >>> assignment.tpu_device(replica=1, logical_core=1)
        '/task:0/device:TPU:3'

    Source: `tf.tpu.experimental.DeviceAssignment`.
    """

    SINGLE_CORE = (((0, 0, 0, 0),),)

    def __init__(self, topology: Topology, core_assignment: Any) -> None:
        """Makes an assignment; `build` finds one by itself.

        Args:
            topology: of the TPU.
            core_assignment: coordinates of shape `(replicas, cores of a replica, 4)`.

        Raises:
            ValueError: these are no topology and coordinates.
        """
        if not isinstance(topology, Topology):
            raise ValueError(
                f"topology must be a Topology object, but got {type(topology).__name__}. It is what "
                "tf.tpu.experimental.initialize_tpu_system(resolver) returns."
            )
        cores = np.asarray(core_assignment, np.int32)
        if cores.ndim != 3 or cores.shape[-1] != topology.mesh_rank:
            raise ValueError(
                "core_assignment must be a rank 3 numpy array of shape (replicas, cores of a replica, "
                f"{topology.mesh_rank}), but its shape is {cores.shape}."
            )
        self._topology, self._cores = topology, cores
        self._replicas: dict[tuple[int, int], list[int]] = defaultdict(list)
        for replica, places in enumerate(cores):
            for core, place in enumerate(places):
                task = int(topology.task_ordinal_at_coordinates(place))
                self._replicas[task, core].append(replica)

    @property
    def topology(self) -> Topology:
        """Where the cores are."""
        return self._topology

    @property
    def num_cores_per_replica(self) -> int:
        """How many cores a replica has."""
        return self._cores.shape[1]

    @property
    def num_replicas(self) -> int:
        """How many replicas there are."""
        return self._cores.shape[0]

    @property
    def core_assignment(self) -> np.ndarray:
        """The coordinates, of shape `(replicas, cores of a replica, 4)`."""
        return self._cores

    def coordinates(self, replica: int, logical_core: int) -> tuple[Any, ...]:
        """Returns where a core of a replica is."""
        return tuple(self._cores[replica, logical_core])

    def lookup_replicas(self, task_id: int, logical_core: int) -> list[int]:
        """Lists the replicas whose core of a number is on a task.

        Raises:
            ValueError: there is none.
        """
        found = self._replicas.get((task_id, logical_core))
        if not found:
            raise ValueError(
                f"Can not find any replica in task: {task_id} contains logical_core: {logical_core}. A replica has "
                f"{self.num_cores_per_replica} core(s), and there are {self._topology.num_tasks} task(s)."
            )
        return found

    def tpu_ordinal(self, replica: int = 0, logical_core: int = 0) -> int:
        """Returns the number, within its task, of a replica's core."""
        return self._topology.tpu_device_ordinal_at_coordinates(
            self.coordinates(replica, logical_core)
        )

    def host_device(self, replica: int = 0, logical_core: int = 0, job: str | None = None) -> str:
        """Names the processor of the task that has a replica's core."""
        return self._topology.cpu_device_name_at_coordinates(
            self.coordinates(replica, logical_core), job
        )

    def tpu_device(self, replica: int = 0, logical_core: int = 0, job: str | None = None) -> str:
        """Names a replica's core."""
        return self._topology.tpu_device_name_at_coordinates(
            self.coordinates(replica, logical_core), job
        )

    @classmethod
    def build(
        cls,
        topology: Topology,
        computation_shape: Sequence[int] | None = None,
        computation_stride: Sequence[int] | None = None,
        num_replicas: int = 1,
        device_order_mode: DeviceOrderMode = DeviceOrderMode.AUTO,
    ) -> "DeviceAssignment":
        """Finds cores for replicas, those of a replica near each other.

        Args:
            topology: of the TPU, or its bytes.
            computation_shape: the block of cores of a replica, along x, y, z and the cores of a chip; None for one core.
            computation_stride: how far the cores of a replica are apart along each axis; None for 1.
            num_replicas: how many replicas.
            device_order_mode: whether chips are taken along rings.

        Returns:
            The assignment.

        Raises:
            ValueError: the replicas do not fit into the topology, or an argument is malformed.
        """
        topology = Topology(serialized=topology) if isinstance(topology, bytes) else topology
        if not isinstance(topology, Topology):
            raise ValueError(f"`topology` is not a Topology object; got {type(topology).__name__}.")
        shape = _positive(topology, computation_shape, "computation_shape")
        stride = _positive(topology, computation_stride, "computation_stride")
        counts = _counts(topology, shape, stride, num_replicas)
        if topology.missing_devices.size:
            if (stride > 1).any():
                raise ValueError(
                    f"computation_stride {stride} needs a topology without gaps, but devices are missing at "
                    f"{topology.missing_devices.tolist()}. Leave it out."
                )
            return cls(topology, _in_order(topology, int(np.prod(shape)), num_replicas))
        blocks = _compact(counts, num_replicas)
        whole_chips = shape[-1] == topology.mesh_shape[-1]
        fills = num_replicas == np.prod(counts)
        rings = bool(whole_chips and (stride == 1).all() and fills)
        if device_order_mode == DeviceOrderMode.RING and not rings:
            raise ValueError(
                "device_order_mode=DeviceOrderMode.RING needs replicas of whole chips, without a stride, that fill the "
                "topology. Use DeviceOrderMode.AUTO."
            )
        if rings and device_order_mode != DeviceOrderMode.MESH:
            return cls(topology, _along_rings(shape, blocks, num_replicas))
        return cls(topology, _in_blocks(shape, stride, blocks, num_replicas))


def _positive(topology: Topology, sizes: Sequence[int] | None, name: str) -> np.ndarray:
    found = np.ones(topology.mesh_rank, np.int32) if sizes is None else np.asarray(sizes, np.int32)
    if found.shape != (topology.mesh_rank,):
        raise ValueError(f"{name} must have shape [{topology.mesh_rank}]; got {found.shape}.")
    if (found < 1).any():
        raise ValueError(f"{name} must be positive; got {name}={found}.")
    return found


def _counts(topology: Topology, shape: np.ndarray, stride: np.ndarray, replicas: int) -> np.ndarray:
    """Returns how many replicas fit along each axis."""
    footprint, mesh = shape * stride, topology.mesh_shape
    if (footprint > mesh).any():
        raise ValueError(
            f"computation footprint {footprint} does not fit in TPU topology shape {mesh}. Take a smaller "
            "computation_shape."
        )
    counts = mesh // footprint * stride
    if replicas > np.prod(counts):
        raise ValueError(
            f"requested {replicas} replicas but only {np.prod(counts)} replicas with shape {shape} and computation_stride "
            f"{stride} fit in a TPU mesh of shape {mesh}."
        )
    return counts


def _compact(counts: np.ndarray, replicas: int) -> list[int]:
    """Chooses a block of replicas with sides as equal as can be; short axes are settled first, and cores before x."""
    rank, left, block = len(counts), replicas, [0] * len(counts)
    order = sorted(range(rank), key=lambda axis: (counts[axis], (axis + 1) % rank))
    for settled, axis in enumerate(order):
        side = math.ceil(left ** (1.0 / (rank - settled)))
        block[axis] = min(side, int(counts[axis]))
        left = -(-left // block[axis]) if block[axis] else left
    return block


def _in_blocks(
    shape: np.ndarray, stride: np.ndarray, blocks: Sequence[int], replicas: int
) -> np.ndarray:
    """Lays replicas out as a mesh: cores of a chip first, then x, y and z."""
    numbers = np.arange(replicas)
    positions = np.zeros((replicas, len(shape)), np.int64)
    for axis in (len(shape) - 1, *range(len(shape) - 1)):
        positions[:, axis] = numbers % blocks[axis]
        numbers = numbers // blocks[axis]
    offsets = positions // stride * (shape * stride) + positions % stride
    inner = np.indices(shape.tolist()).reshape(len(shape), -1).T * stride
    return offsets[:, None, :] + inner[None]


def _along_rings(shape: np.ndarray, blocks: Sequence[int], replicas: int) -> list[Any]:
    """Lays whole chips out along a ring in each replica, and the replicas along a ring."""
    inside, outside = ring(*map(int, shape[:3])), ring(*blocks[:3])
    cores = range(int(shape[3]))
    return [
        [
            [
                *(
                    int(block * size) + at
                    for block, size, at in zip(corner, shape, chip, strict=False)
                ),
                core,
            ]
            for chip in inside
            for core in cores
        ]
        for corner in outside[:replicas]
    ]


def _in_order(topology: Topology, cores: int, replicas: int) -> np.ndarray:
    """Takes devices as they are numbered, where some coordinates have none."""
    places = topology.device_coordinates.reshape(-1, topology.mesh_rank)
    if replicas * cores > len(places):
        raise ValueError(
            f"requested {replicas} replicas with {cores} core(s) each, but there are {len(places)} devices."
        )
    return places[: replicas * cores].reshape(replicas, cores, -1)
