"""Facts of a TPU system: how many cores and hosts it has."""

from typing import Any, NamedTuple

import jax

from frontends.tf.distribute.device_names import long_name
from frontends.tf.tpu.topology import Topology, topology_of_devices
from spmd.topology import all_devices


class DeviceAttributes(NamedTuple):
    """A device as `TPUSystemMetadata.devices` lists it.

    Attributes:
        name: such as `"/job:localhost/replica:0/task:0/device:TPU:0"`.
        device_type: `"TPU"`.
        memory_limit_bytes: of its memory; 0 if JAX does not say.
        incarnation: 0; of TensorFlow's servers.
    """

    name: str
    device_type: str
    memory_limit_bytes: int
    incarnation: int


class TPUSystemMetadata(NamedTuple):
    """Facts of a TPU system.

    Attributes:
        num_cores: of all hosts.
        num_hosts: how many processes have TPU devices.
        num_of_cores_per_host: of each.
        topology: where the cores are.
        devices: the TPU devices of all hosts.

    Source: `tf.tpu.experimental.TPUSystemMetadata`.
    """

    num_cores: int
    num_hosts: int
    num_of_cores_per_host: int
    topology: Topology | None
    devices: tuple[Any, ...]


def system_metadata() -> TPUSystemMetadata:
    """Gathers the facts of the TPU devices of all processes; starts the backend."""
    topology = topology_of_devices()
    devices = all_devices("tpu")
    described = tuple(
        DeviceAttributes(long_name(device), "TPU", _memory(device), 0) for device in devices
    )
    return TPUSystemMetadata(
        len(devices), topology.num_tasks, topology.num_tpus_per_task, topology, described
    )


def _memory(device: Any) -> int:
    if device.platform == "cpu" or device.process_index != jax.process_index():
        return 0
    return int((device.memory_stats() or {}).get("bytes_limit", 0))
