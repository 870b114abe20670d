"""Whether this machine has a TPU, found out without starting it."""

import importlib.util

import jax

from spmd import _jax_internals
from spmd.topology.devices import local_devices
from spmd.topology.simulated import wanted_simulation


def has_tpu() -> bool:
    """Tells whether this process has TPU devices, or simulated ones; starts no backend.

    A machine has them if it shows TPU chips on its bus and libtpu is installed, unless JAX_PLATFORMS names other platforms
    only. If a backend runs already, its devices tell.

    Examples:
        >>> has_tpu()
        False
    """
    simulated = wanted_simulation()
    if simulated is not None:
        return simulated.kind == "tpu"
    if _jax_internals.backend_is_running():
        return bool(local_devices("tpu"))
    platforms = jax.config.jax_platforms  # type: ignore[attr-defined]
    if platforms and "tpu" not in platforms.split(","):
        return False
    return importlib.util.find_spec("libtpu") is not None and _jax_internals.tpu_chips() > 0
