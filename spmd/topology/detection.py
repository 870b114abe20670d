"""Whether this machine has a TPU, found out without starting it."""

import importlib.metadata
import importlib.util
import os

import jax

from spmd import _jax_internals
from spmd.topology.devices import local_devices
from spmd.topology.simulated import wanted_simulation

_PLUGINS = ("libtpu", "jax_cuda12_plugin", "jax_cuda13_plugin")
# Files of GPUs' drivers; /dev/dxg is that of the Windows Subsystem for Linux.
_DRIVERS = ("/dev/nvidiactl", "/dev/dxg", "/dev/kfd")


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


def leave_out_absent_accelerators() -> None:
    """Has JAX start on the processor alone where plug-ins for TPUs or GPUs are installed, and there is neither.

    They may be there as compilers only, for `jaxtribute plan`. JAX would load them all the same, which writes warnings,
    and libtpu fails while another process has it. Does nothing once a backend runs, or if JAX_PLATFORMS is set.
    """
    if (
        jax.config.jax_platforms  # type: ignore[attr-defined]
        or "JAX_FORCE_TPU_INIT" in os.environ
        or not any(map(importlib.util.find_spec, _PLUGINS))
        or any(map(os.path.exists, _DRIVERS))
        or _jax_internals.backend_is_running()
        or _jax_internals.tpu_chips()
    ):
        return
    others = [
        plugin.name
        for plugin in importlib.metadata.entry_points(group="jax_plugins")
        if not plugin.name.startswith("xla_cuda")
    ]
    if not others:
        jax.config.update("jax_platforms", "cpu")
