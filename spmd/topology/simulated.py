"""Simulated accelerators: CPU devices that stand for the cores of a TPU, or for GPUs.

The environment variable JAXTRIBUTE_SIMULATE asks for them: `tpu:8`, `tpu:v5e-8` or `gpu:8`. The first devices of the
CPU then answer to `"tpu:0"` and so on. They are CPU devices in all else: what they compute is right, how long they take
says nothing, and programs are those for processors.
"""

import dataclasses
import functools
import os
import sys
from collections.abc import Mapping

import jax

from spmd import _jax_internals
from spmd.errors import MeshError
from spmd.topology.simulation import simulate_devices, simulation_environment
from spmd.topology.slices import Slice, parse_slice

SIMULATE_VARIABLE = "JAXTRIBUTE_SIMULATE"

_said: set[str] = set()


@dataclasses.dataclass(frozen=True)
class Simulated:
    """Accelerators that CPU devices of this process stand for.

    Attributes:
        kind: `"tpu"` or `"gpu"`.
        count: how many this process has.
        generation: of TPUs; `""` for GPUs.
    """

    kind: str
    count: int
    generation: str = ""

    @property
    def text(self) -> str:
        """What the environment variable says."""
        if self.generation:
            return f"tpu:{Slice(self.generation, self.count).name}"
        return f"{self.kind}:{self.count}"

    def slice_of(self, devices: int) -> Slice:
        """Returns the slice that so many devices make, those of all processes."""
        return Slice(self.generation or "v3", devices)


@functools.cache
def parse_simulated(text: str) -> Simulated:
    """Reads what shall be simulated.

    Args:
        text: `tpu:` and a number of devices, or a slice's name as Cloud TPU writes it (`parse_slice`); or `gpu:` and a
            number.

    Returns:
        The accelerators.

    Raises:
        MeshError: it cannot be read.

    Examples:
        >>> parse_simulated("tpu:v5e-8")
        Simulated(kind='tpu', count=8, generation='v5e')
        >>> parse_simulated("gpu:4").count
        4
    """
    kind, _, amount = text.strip().lower().partition(":")
    if kind == "gpu" and amount.isdecimal() and int(amount):
        return Simulated("gpu", int(amount))
    if kind != "tpu" or not amount:
        raise MeshError(
            f"Cannot simulate {text!r}. Expected accelerators and their number: {SIMULATE_VARIABLE}=tpu:8, tpu:v5e-8 or "
            "gpu:8."
        )
    found = parse_slice(amount)
    return Simulated("tpu", found.devices, "" if amount.isdecimal() else found.generation)


def wanted_simulation() -> Simulated | None:
    """Returns what JAXTRIBUTE_SIMULATE asks for; None if it is not set.

    Raises:
        MeshError: it cannot be read.
    """
    text = os.environ.get(SIMULATE_VARIABLE, "").strip()
    return parse_simulated(text) if text else None


def simulated_environment(wanted: Simulated, environment: Mapping[str, str]) -> dict[str, str]:
    """Tells which variables make simulated accelerators for a process that is not started yet.

    Args:
        wanted: the accelerators of the process.
        environment: the variables that it would have otherwise.

    Returns:
        The variables to set.

    Examples:
        >>> simulated_environment(parse_simulated("tpu:2"), {"NPROC": "64"})["JAXTRIBUTE_SIMULATE"]
        'tpu:2'
    """
    devices = simulation_environment(wanted.count, environment)
    return {SIMULATE_VARIABLE: wanted.text, "JAX_PLATFORMS": "cpu", **devices}


def prepare_simulation() -> None:
    """Has JAX start with as many CPU devices as JAXTRIBUTE_SIMULATE says; does nothing if it runs, or none are asked for.

    Starts no backend. Scripts may make arrays before they ask for devices, so this comes before.

    Raises:
        MeshError: the variable cannot be read.
    """
    wanted = wanted_simulation()
    if wanted is None or _jax_internals.backend_is_running():
        return
    if jax.config.jax_platforms != "cpu":  # type: ignore[attr-defined]
        jax.config.update("jax_platforms", "cpu")
    simulate_devices(wanted.count)


def start_simulation() -> Simulated | None:
    """Makes simulated accelerators ready when devices are asked for, and says so on stderr, once.

    Returns:
        What is simulated; None without JAXTRIBUTE_SIMULATE.

    Raises:
        MeshError: the variable cannot be read, or JAX already runs with fewer CPU devices.
    """
    wanted = wanted_simulation()
    if wanted is None:
        return None
    prepare_simulation()
    if wanted.text not in _said:
        _check_enough(wanted)
        _said.add(wanted.text)
        name = wanted.kind.upper()
        print(
            f"jaxtribute: {wanted.count} simulated {name} device{'s' * (wanted.count > 1)} on this machine's processor: "
            "results are real, speed is not.",
            file=sys.stderr,
        )
    return wanted


def _check_enough(wanted: Simulated) -> None:
    if not _jax_internals.backend_is_running():
        return
    try:
        running = len(jax.local_devices(backend="cpu"))
    except RuntimeError:  # JAX_PLATFORMS leaves it out
        running = 0
    if running < wanted.count:
        raise MeshError(
            f"{SIMULATE_VARIABLE}={wanted.text} came too late: JAX already runs with {running} CPU device(s), and "
            f"{wanted.count} are to stand for {wanted.kind.upper()}s. Something made an array, or asked for devices, before "
            f"this package was imported. Start the script with the devices: jaxtribute launch --simulate {wanted.text} "
            "SCRIPT."
        )
