"""Names of devices as TensorFlow spells them in a cluster."""

import jax

from frontends.tf._typing import Device
from spmd.servers import ServerVariables
from spmd.state import backing_of
from spmd.topology import kind_of
from spmd.typing import LibraryVariable


def long_name(device: Device) -> str:
    """Names a device with its job and task, such as `/job:localhost/replica:0/task:0/device:CPU:0`."""
    kind = kind_of(device)
    # By position on its host: a CPU device that stands for a TPU core has the same.
    local = jax.local_devices(process_index=device.process_index, backend=device.platform)
    job = "localhost" if jax.process_count() == 1 else "worker"
    index = local.index(device)
    return f"/job:{job}/replica:0/task:{device.process_index}/device:{kind.upper()}:{index}"


def devices_of(variable: LibraryVariable) -> list[str]:
    """Names the parameter servers that hold the parts of a variable; none if it does not live on any."""
    backing = backing_of(variable)
    if not isinstance(backing, ServerVariables):
        return []
    return [
        f"/job:ps/replica:0/task:{shard.server}/device:CPU:0" for shard in backing.shards(variable)
    ]
