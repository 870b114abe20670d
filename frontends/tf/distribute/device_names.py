"""Names of devices as TensorFlow spells them in a cluster."""

import jax

from frontends.tf._typing import Device


def long_name(device: Device) -> str:
    """Names a device with its job and task, such as `/job:localhost/replica:0/task:0/device:CPU:0`."""
    platform: str = device.platform
    kind = "GPU" if platform in ("cuda", "rocm") else platform.upper()
    local = jax.local_devices(process_index=device.process_index, backend=platform)
    job = "localhost" if jax.process_count() == 1 else "worker"
    index = local.index(device)
    return f"/job:{job}/replica:0/task:{device.process_index}/device:{kind}:{index}"
