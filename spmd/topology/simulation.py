"""Simulated devices: CPU devices made out of one processor, to try many replicas without hardware."""

import os
import re
import warnings
from collections.abc import Mapping

import jax

from spmd import _jax_internals
from spmd.errors import MeshError
from spmd.lowering import share_one_arena

_COUNT_FLAG = "--xla_force_host_platform_device_count"
# Whether XLA's thread pool is too small for its devices.
_is_narrow = False


def simulate_devices(count: int) -> None:
    """Splits this machine's processor into several CPU devices; call it before JAX starts.

    Also makes XLA's thread pool large enough: with fewer threads than devices the in-process
    all-reduce waits for threads that never come, and XLA aborts the process.

    Args:
        count: how many CPU devices there shall be, at least 1.

    Raises:
        MeshError: `count` is below 1, or the backend already runs with another number of devices.

    Examples:
        >>> import spmd
        >>> spmd.simulate_devices(8)
        >>> len(spmd.make_mesh(["cpu"]).devices)
        8
    """
    if count < 1:
        raise MeshError(f"simulate_devices needs 1 device at least, but was asked for {count}.")
    if _jax_internals.backend_is_running():
        running = len(jax.devices("cpu"))
        if running == count:
            return
        raise MeshError(
            f"simulate_devices({count}) came too late: the JAX backend already runs with "
            f"{running} CPU device(s). Call it at the top of the script, before anything that makes "
            "an array or asks for devices."
        )
    share_one_arena()
    os.environ.update(simulation_environment(count, os.environ))
    # Both the option and the flag exist; the option wins, but child processes see only the flag.
    jax.config.update("jax_num_cpu_devices", count)


def widen_thread_pool() -> None:
    """Makes XLA's thread pool large enough for the devices that `XLA_FLAGS` asks for, as `simulate_devices` does.

    Called when this package is imported, since XLA reads the size when its backend starts. If that runs already, a
    warning says what to do instead.
    """
    global _is_narrow
    count = simulated_devices()
    variables = simulation_environment(count, os.environ)
    if count < 2 or "NPROC" not in variables:
        return
    if _jax_internals.backend_is_running():
        _is_narrow = True
    else:
        os.environ["NPROC"] = variables["NPROC"]


def warn_of_narrow_pool() -> None:
    """Warns once if the backend ran with too few threads before this package was imported."""
    global _is_narrow
    if not _is_narrow:
        return
    _is_narrow = False
    count = simulated_devices()
    threads = simulation_environment(count, {})["NPROC"]
    warnings.warn(
        f"JAX's backend was started with {count} CPU devices, and fewer threads than they need: a step of all of them can "
        f"abort the process. Import spmd before the first array is made, or start the script with NPROC={threads}.",
        stacklevel=4,
    )


def simulated_devices() -> int:
    """Returns how many CPU devices the environment asks for; 1 if it does not say."""
    found = re.search(rf"{_COUNT_FLAG}=(\d+)", os.environ.get("XLA_FLAGS", ""))
    return int(found.group(1)) if found else 1


def simulation_environment(count: int, environment: Mapping[str, str]) -> dict[str, str]:
    """Tells which variables split the processor into several devices for a process that is not started yet.

    Args:
        count: how many CPU devices there shall be.
        environment: the variables that the process would have otherwise.

    Returns:
        The variables to set.

    Examples:
        >>> simulation_environment(2, {"NPROC": "64"})["XLA_FLAGS"]
        '--xla_force_host_platform_device_count=2'
    """
    flags = re.sub(rf"{_COUNT_FLAG}=\d+", "", environment.get("XLA_FLAGS", "")).strip()
    variables = {"XLA_FLAGS": f"{flags} {_COUNT_FLAG}={count}".strip()}
    # XLA sizes its pool by NPROC. Two threads a device, since one may wait in a collective, and a few more.
    # Not many more: XLA divides each operation among all of them, and 16 on two cores take twice the time.
    threads = max(2 * count + 4, os.cpu_count() or 1)
    if count > 1 and int(environment.get("NPROC", "0") or 0) < threads:
        variables["NPROC"] = str(threads)
    return variables


widen_thread_pool()
