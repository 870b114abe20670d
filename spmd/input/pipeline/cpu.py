"""Calls on the host: on this process's first CPU device, whatever surrounds the call."""

from collections.abc import Callable
from typing import Any, TypeVar

import jax
import numpy as np

T = TypeVar("T")
R = TypeVar("R")


def call_on_cpu(function: Callable[[T], R], argument: T) -> R:
    """Calls a function, and makes the JAX calls in it run at once, on the host CPU.

    A pipeline may be read in the middle of other work: with a GPU as the default device, inside
    `jax.set_mesh` (which would run the function on every device, of other hosts too), or while
    another function is traced (which would make this one a part of that program).

    Args:
        function: What to call.
        argument: What to call it with.

    Returns:
        What the function returns.

    Raises:
        RuntimeError: JAX was told to leave the CPU backend out.
    """
    cpu = _first_cpu()
    with jax.default_device(cpu):
        try:
            mesh = jax.sharding.get_mesh()
        except ValueError:  # so says JAX while it traces
            with jax.ensure_compile_time_eval():
                return function(argument)
        if mesh.empty:
            return function(argument)
        axis = jax.sharding.AxisType.Auto
        with jax.set_mesh(jax.sharding.Mesh(np.array([cpu]), ("host",), axis_types=(axis,))):
            return function(argument)


def _first_cpu() -> Any:
    try:
        return jax.local_devices(backend="cpu")[0]
    except RuntimeError as error:
        platforms = jax.config.values["jax_platforms"]
        raise RuntimeError(
            "Map functions run on the host CPU, and JAX has no CPU backend here: "
            f"jax_platforms is {platforms!r}.\n"
            f'Fix: JAX_PLATFORMS="{platforms},cpu" in the environment.'
        ) from error
