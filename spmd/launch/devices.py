"""Which devices each task on this machine gets, found out without starting a backend."""

import dataclasses
import glob
import importlib.util
import pkgutil
from collections.abc import Mapping, Sequence

from spmd.cluster import Task
from spmd.errors import LaunchError, MeshError
from spmd.launch.tasks import Roles
from spmd.topology import (
    SIMULATE_VARIABLE,
    parse_simulated,
    simulated_environment,
    simulation_environment,
)

_GPU_PLATFORMS = ("gpu", "cuda")


def devices_of_tasks(
    roles: Roles, devices_per_worker: int | None, environment: Mapping[str, str]
) -> dict[Task, dict[str, str]]:
    """Divides this machine's devices among the tasks of a job.

    Where accelerators are simulated (`--simulate`, JAXTRIBUTE_SIMULATE), their number is that of the whole job: the tasks
    that compute have equal shares, and the others as many. On the CPU each task gets as many simulated devices as
    requested. NVIDIA GPUs are divided in order; the others get those that remain, or the CPU. Devices that only a backend
    can count are left to JAX. Parameter servers hold values in host memory: they get the CPU.

    Args:
        roles: the tasks.
        devices_per_worker: None for one CPU device, or an equal share of the GPUs.
        environment: environment variables of all tasks; `JAX_PLATFORMS` selects the platform, and
            `JAXTRIBUTE_SIMULATE` one that is simulated.

    Returns:
        Environment variables for each task.

    Raises:
        LaunchError: there are too few devices, or they cannot be divided.

    Examples:
        >>> roles = Roles(workers=2)
        >>> devices = devices_of_tasks(
        ...     roles, 2, {"JAX_PLATFORMS": "cuda", "CUDA_VISIBLE_DEVICES": "0,1,2,3"}
        ... )
        >>> devices[Task("worker", 1)]
        {'CUDA_VISIBLE_DEVICES': '2,3'}
    """
    divided = _divide(roles, devices_per_worker, environment)
    servers = {
        task: {**_ON_CPU, SIMULATE_VARIABLE: ""} for task in roles.all if task.task_type == "ps"
    }
    return divided | servers


def _divide(
    roles: Roles, devices_per_worker: int | None, environment: Mapping[str, str]
) -> dict[Task, dict[str, str]]:
    if environment.get(SIMULATE_VARIABLE):
        return _divide_simulated(roles, devices_per_worker, environment)
    platform = _platform(environment)
    if platform in _GPU_PLATFORMS:
        return _divide_gpus(roles, devices_per_worker, _visible_gpus(environment))
    if platform == "cpu" and devices_per_worker is not None:
        simulated = simulation_environment(devices_per_worker, environment)
        return {task: {"JAX_PLATFORMS": "cpu", **simulated} for task in roles.all}
    if platform == "tpu" and len(roles.computing) > 1:
        raise LaunchError(
            f"This machine has TPU chips, all of which one process uses, but there are {len(roles.computing)} tasks "
            "that compute. Start one on each TPU host (--hosts), or try it out on the CPU: --env JAX_PLATFORMS=cpu."
        )
    if platform == "tpu":
        return {task: {} if task in roles.computing else _ON_CPU for task in roles.all}
    return {task: {} for task in roles.all}


def _divide_simulated(
    roles: Roles, per_worker: int | None, environment: Mapping[str, str]
) -> dict[Task, dict[str, str]]:
    text, workers = environment[SIMULATE_VARIABLE], len(roles.computing)
    try:
        job = parse_simulated(text)
    except MeshError as error:
        raise LaunchError(str(error)) from error
    if job.count % workers or per_worker not in (None, job.count // workers):
        wanted = "" if per_worker is None else f" with {per_worker} each"
        raise LaunchError(
            f"The {job.count} simulated devices of {text} are those of the whole job, and {workers} tasks that compute"
            f"{wanted} cannot share them equally. Leave --devices-per-worker out, and simulate a multiple of {workers}: "
            f"--simulate {job.kind}:{workers * (per_worker or max(1, job.count // workers))}."
        )
    share = dataclasses.replace(job, count=job.count // workers)
    return {task: simulated_environment(share, environment) for task in roles.all}


def _platform(environment: Mapping[str, str]) -> str:
    """Returns the platform that JAX will use by default, as far as can be told without starting it."""
    requested = environment.get("JAX_PLATFORMS", "").split(",")[0].strip().lower()
    if requested:
        return requested
    spec = importlib.util.find_spec("jax_plugins")
    plugins = pkgutil.iter_modules((spec.submodule_search_locations if spec else None) or [])
    if _visible_gpus(environment) and any(one.name.startswith("xla_cuda") for one in plugins):
        return "cuda"
    if importlib.util.find_spec("libtpu") and glob.glob("/dev/accel[0-9]*"):
        return "tpu"
    return "cpu"


def _visible_gpus(environment: Mapping[str, str]) -> list[str]:
    visible = environment.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return [name for name in map(str.strip, visible.split(",")) if name not in ("", "-1")]
    # CUDA numbers the devices that it sees from 0, whatever their files are called in a container.
    return [str(index) for index in range(len(glob.glob("/dev/nvidia[0-9]*")))]


def _divide_gpus(
    roles: Roles, per_worker: int | None, gpus: Sequence[str]
) -> dict[Task, dict[str, str]]:
    computing = roles.computing
    if per_worker is None:
        if len(computing) == 1:
            return {task: {} if task in computing else _ON_CPU for task in roles.all}
        per_worker = max(1, len(gpus) // len(computing))
    if len(gpus) < per_worker * len(computing):
        raise LaunchError(
            f"Expected {per_worker * len(computing)} GPUs, {per_worker} for each of {len(computing)} tasks that "
            f"compute, but this machine shows {len(gpus)} ({', '.join(gpus) or 'none'}; CUDA_VISIBLE_DEVICES or "
            "/dev/nvidia*). Ask for fewer, or try it out on the CPU: --env JAX_PLATFORMS=cpu."
        )
    divided: dict[Task, dict[str, str]] = {}
    others = (task for task in roles.all if task not in computing and task.task_type != "ps")
    for position, task in enumerate([*computing, *others]):
        own = gpus[position * per_worker : (position + 1) * per_worker]
        divided[task] = {"CUDA_VISIBLE_DEVICES": ",".join(own)} if own else _ON_CPU
    return divided


_ON_CPU = {"CUDA_VISIBLE_DEVICES": "", "JAX_PLATFORMS": "cpu"}
