"""Which accelerators this process takes, how many threads its processor gets: choices before the backend starts."""

import os
from collections.abc import Sequence

import jax

from spmd import _jax_internals
from spmd.errors import MeshError
from spmd.topology.simulated import SIMULATE_VARIABLE, Simulated, wanted_simulation
from spmd.topology.simulation import simulated_devices, simulation_environment

_THREADS = "NPROC"  # where XLA reads how many threads its pool has
_GPUS = "CUDA_VISIBLE_DEVICES"
_GPUS_BEFORE: dict[str, str | None] = {}  # what `use_gpus` wrote, and what stood there before it


def use_gpus(indices: Sequence[int]) -> None:
    """Takes some of the GPUs only; call it before the backend starts.

    Child processes inherit the choice. NVIDIA's GPUs only: others have variables of their own.

    Args:
        indices: among the GPUs that the process would take if none were ever chosen: a second choice replaces the first.

    Raises:
        MeshError: the backend runs already, or there is no such GPU.

    Examples:
        >>> use_gpus([0])
        Traceback (most recent call last):
        spmd.errors.MeshError: Choosing GPUs came too late: the backend runs already. Choose them ...

    Source: `tf.config.set_visible_devices`; the variable CUDA_VISIBLE_DEVICES.
    """
    _require_no_backend("Choosing GPUs", f"set {_GPUS}=0,1")
    known = os.environ.get(_GPUS)
    known = _GPUS_BEFORE.get(known, known) if known is not None else None
    names = None if known is None else [name.strip() for name in known.split(",") if name.strip()]
    if names is not None and not all(0 <= index < len(names) for index in indices):
        raise MeshError(
            f"There are no GPUs {list(indices)}: {_GPUS}={known} names {len(names)} of them."
        )
    chosen = list(map(str, indices)) if names is None else [names[index] for index in indices]
    os.environ[_GPUS] = ",".join(chosen)
    _GPUS_BEFORE.clear()
    _GPUS_BEFORE[os.environ[_GPUS]] = known


def use_platforms(platforms: Sequence[str]) -> None:
    """Starts the backends of some platforms only; call it before the first one starts.

    Args:
        platforms: such as `["cuda", "cpu"]`; the first is the default.

    Raises:
        MeshError: a backend runs already.

    Source: the variable JAX_PLATFORMS.
    """
    _require_no_backend("Choosing platforms", f"set JAX_PLATFORMS={','.join(platforms)}")
    jax.config.update("jax_platforms", ",".join(platforms))


def use_simulated(count: int) -> None:
    """Takes some of the simulated accelerators only; call it before the backend starts.

    Args:
        count: how many; 0 for none.

    Raises:
        MeshError: the backend runs already.

    Source: `tf.config.set_visible_devices`.
    """
    _require_no_backend("Choosing simulated devices", f"set {SIMULATE_VARIABLE}")
    wanted = wanted_simulation()
    os.environ.pop(SIMULATE_VARIABLE, None)
    if wanted is not None and count:
        generation = wanted.generation if count == wanted.count else ""
        os.environ[SIMULATE_VARIABLE] = Simulated(wanted.kind, count, generation).text


def limit_threads(count: int) -> None:
    """Says how many threads XLA's programs share on the processor; call it before the backend starts.

    Simulated devices need two threads each, and get them (`simulate_devices`).

    Args:
        count: how many; 0 stands for as many as the processor has cores.

    Raises:
        MeshError: the backend runs already.

    Examples:
        >>> limit_threads(2)
        Traceback (most recent call last):
        spmd.errors.MeshError: Limiting threads came too late: the backend runs already. Choose them ...

    Source: `tf.config.threading.set_intra_op_parallelism_threads`; the variable NPROC.
    """
    _require_no_backend("Limiting threads", f"set {_THREADS}={count}")
    os.environ.pop(_THREADS, None)
    if count:
        os.environ[_THREADS] = str(count)
    if simulated_devices() > 1:
        os.environ.update(simulation_environment(simulated_devices(), os.environ))


def compute_deterministically() -> None:
    """Lets XLA choose only operations on GPUs that compute the same bits in every run; call it before the backend starts.

    On processors and TPUs they do so anyway.

    Raises:
        MeshError: the backend runs already.

    Source: `tf.config.experimental.enable_op_determinism`; the flag of XLA of this name.
    """
    flag = "--xla_gpu_deterministic_ops=true"
    if flag not in os.environ.get("XLA_FLAGS", ""):
        _require_no_backend("Choosing deterministic operations", f"set XLA_FLAGS={flag}")
        os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {flag}".strip()


def _require_no_backend(what: str, remedy: str) -> None:
    if _jax_internals.backend_is_running():
        raise MeshError(
            f"{what} came too late: the backend runs already. Choose them at the top of the script, before anything "
            f"that makes an array or asks for devices, or {remedy} before Python starts."
        )
