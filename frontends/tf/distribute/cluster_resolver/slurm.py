"""The resolver that asks Slurm."""

import os
import shutil
import subprocess
from collections.abc import Mapping

from frontends.tf.distribute.cluster_resolver.base import AddressResolver
from frontends.tf.train.cluster_spec import ClusterSpec
from spmd.cluster import SlurmStep
from spmd.errors import ClusterConfigError


class SlurmClusterResolver(AddressResolver):
    """Reads the tasks of a Slurm step, and shares each node's GPUs among its tasks.

    The task of this process is known after `cluster_spec()`. Ranks count along the list of nodes, as
    Slurm does unless `--distribution` says otherwise.

    Args:
        jobs: number of tasks by job; None makes all tasks workers.
        port_base: port of the first task on each node; the others have the next ones.
        gpus_per_node: GPUs on each node; None counts those of this one.
        gpus_per_task: GPUs of each task; None shares them equally.
        tasks_per_node: tasks on each node, or a dict from host to number of tasks, whose hosts are
            taken in alphabetical order; None asks Slurm.
        auto_set_gpu: whether `cluster_spec()` sets CUDA_VISIBLE_DEVICES to this task's GPUs. It has to
            come before JAX looks for devices.
        rpc_layer: protocol to put in front of addresses.

    Raises:
        ClusterConfigError: a variable of Slurm cannot be parsed.
        RuntimeError: this is not a Slurm step; or the node has fewer GPUs, or the step other tasks, than
            asked for.

    Source: `tf.distribute.cluster_resolver.SlurmClusterResolver`. There nodes are always in
    alphabetical order, in which `node10` comes before `node9` and has the wrong rank, and a node
    without GPUs is an error.
    """

    def __init__(
        self,
        jobs: Mapping[str, int] | None = None,
        port_base: int = 8888,
        gpus_per_node: int | None = None,
        gpus_per_task: int | None = None,
        tasks_per_node: int | Mapping[str, int] | None = None,
        auto_set_gpu: bool = True,
        rpc_layer: str | None = "grpc",
    ) -> None:
        try:
            step = SlurmStep(os.environ)
            self._rank = step.rank
            self._jobs = dict(jobs or {"worker": step.task_count})
            self._tasks = _tasks(step, tasks_per_node)
        except ClusterConfigError as error:
            if error.key in os.environ or not error.key:
                raise
            # As TensorFlow, where there is no such variable.
            raise RuntimeError(str(error)) from error
        self._port_base = port_base
        most = max(self._tasks.values(), default=0)
        gpus = _count_gpus() if gpus_per_node is None else gpus_per_node
        self._gpus_per_task = gpus // max(most, 1) if gpus_per_task is None else gpus_per_task
        self._accelerators = {"GPU": self._gpus_per_task}
        self._auto_set_gpu = auto_set_gpu
        self._rpc_layer = rpc_layer
        if most * self._gpus_per_task > gpus:
            raise RuntimeError(
                f"Requested more GPUs per node than available: {most} task(s) x {self._gpus_per_task} "
                f"GPU(s), but a node has {gpus}. Write SlurmClusterResolver(gpus_per_task={gpus // most})."
            )
        asked, assigned = sum(self._jobs.values()), sum(self._tasks.values())
        if asked != assigned or not 0 <= self._rank < assigned:
            raise RuntimeError(
                f"Requested {asked} tasks but {assigned} were assigned, and this is number {self._rank}: jobs "
                f"is {self._jobs}, and the tasks on each node are {self._tasks}. Start the script with srun "
                f"--ntasks={asked}."
            )

    def cluster_spec(self) -> ClusterSpec:
        """Lists the tasks, and finds out which of them this is; sets CUDA_VISIBLE_DEVICES."""
        tasks = [(job, i) for job, count in sorted(self._jobs.items()) for i in range(count)]
        places = [(host, local) for host, count in self._tasks.items() for local in range(count)]
        found: dict[str, list[str]] = {job: [] for job in sorted(self._jobs)}
        for (job, _), (host, local) in zip(tasks, places, strict=True):
            found[job].append(f"{host}:{self._port_base + local}")
        self._task_type, self._task_id = tasks[self._rank]
        if self._auto_set_gpu and self._gpus_per_task:
            first = places[self._rank][1] * self._gpus_per_task
            mine = range(first, first + self._gpus_per_task)
            os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, mine))
        return ClusterSpec(found)

    def get_task_info(self) -> tuple[str | None, int | None]:
        """Returns the job and the index of this process, which are known after `cluster_spec()`."""
        return self.task_type, self.task_id


def _tasks(step: SlurmStep, tasks_per_node: int | Mapping[str, int] | None) -> dict[str, int]:
    if tasks_per_node is None:
        return step.tasks_by_host
    if isinstance(tasks_per_node, Mapping):
        return dict(sorted(tasks_per_node.items()))
    return dict.fromkeys(step.hosts, int(tasks_per_node))


def _count_gpus() -> int:
    # JAX must not be asked: it would start its backend before the devices of this task are chosen.
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return len([one for one in visible.split(",") if one])
    if shutil.which("nvidia-smi") is None:
        return 0
    try:
        listed = subprocess.check_output(
            ["nvidia-smi", "--list-gpus"], stderr=subprocess.DEVNULL, encoding="utf-8", timeout=60
        )
    except subprocess.SubprocessError as error:
        raise RuntimeError(
            f"nvidia-smi --list-gpus did not say how many GPUs this node has: {error}. Write "
            "SlurmClusterResolver(gpus_per_node=8)."
        ) from error
    return sum(line.startswith("GPU ") for line in listed.splitlines())
