"""Slurm: the nodes and tasks of a step, from the variables that `srun` sets.

`srun` starts every task of a *step* with the same command; a task's number in the step is its *rank*.
"""

import re
from collections.abc import Mapping

from spmd.cluster.config import Cluster
from spmd.cluster.environments.slurm_lists import expand_hostlist, expand_tasks_per_node
from spmd.errors import ClusterConfigError

# What jax.distributed reads in a Slurm step.
_READ_BY_JAX = {
    f"SLURM_{name}" for name in ("JOB_ID", "STEP_NODELIST", "NTASKS", "PROCID", "LOCALID")
}


class SlurmStep:
    """The Slurm step that this process is a task of.

    Reading an attribute raises `ClusterConfigError` if its variable is missing or malformed.

    Args:
        environment: environment variables.

    Examples:
        >>> step = SlurmStep({"SLURM_PROCID": "2", "SLURM_STEP_NODELIST": "node[1-2]"})
        >>> step.rank, step.hosts
        (2, ['node1', 'node2'])
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment

    @property
    def job_id(self) -> int:
        """Number of the job."""
        return self._number("SLURM_JOB_ID")

    @property
    def rank(self) -> int:
        """Rank of this task."""
        return self._number("SLURM_PROCID")

    @property
    def task_count(self) -> int:
        """Number of tasks in the step."""
        return self._number("SLURM_STEP_NUM_TASKS")

    @property
    def hosts(self) -> list[str]:
        """The nodes, in Slurm's order."""
        return expand_hostlist(self._text("SLURM_STEP_NODELIST"))

    @property
    def tasks_by_host(self) -> dict[str, int]:
        """Number of tasks on each node, in Slurm's order."""
        hosts = self.hosts
        tasks = expand_tasks_per_node(self._text("SLURM_STEP_TASKS_PER_NODE"))
        if len(hosts) != len(tasks):
            raise ClusterConfigError(
                f"SLURM_STEP_NODELIST has {len(hosts)} node(s), but SLURM_STEP_TASKS_PER_NODE has {len(tasks)} "
                f"({', '.join(hosts[:4])}; {tasks[:4]}). Start the script with srun, and leave these variables as "
                "they are.",
                key="SLURM_STEP_TASKS_PER_NODE",
            )
        return dict(zip(hosts, tasks, strict=True))

    @property
    def is_read_by_jax(self) -> bool:
        """Whether all variables are set that `jax.distributed` reads."""
        return self._environment.keys() >= _READ_BY_JAX

    @property
    def has_several_tasks(self) -> bool:
        """Whether this is a step of several tasks; batch scripts and shells have a step of one."""
        in_step = {"SLURM_STEP_NODELIST", "SLURM_PROCID"} <= self._environment.keys()
        return in_step and self.task_count > 1

    def _text(self, name: str) -> str:
        if name not in self._environment:
            raise ClusterConfigError(
                f"The environment variable {name} is not set, so this is not a task of a Slurm step. Start the "
                "script with srun, as in: srun --ntasks=2 python train.py",
                key=name,
            )
        return self._environment[name]

    def _number(self, name: str) -> int:
        text = self._text(name)
        if not re.fullmatch(r"[0-9]{1,18}", text):
            raise ClusterConfigError(
                f"The environment variable {name} must be a number, but it is {text!r:.80}. Start the script with "
                "srun, which sets it.",
                key=name,
            )
        return int(text)


def from_slurm(environment: Mapping[str, str]) -> Cluster | None:
    """Reads the cluster of a Slurm step, in which all tasks train.

    Ports are those that `jax.distributed` derives from the job's number; further tasks of a node use the
    next ones. Ranks are taken to follow the list of nodes, as they do unless `--distribution` says otherwise.

    Args:
        environment: environment variables.

    Returns:
        The cluster, in which all tasks are workers; None outside a step of several tasks.

    Raises:
        ClusterConfigError: a variable is missing or malformed.

    Examples:
        >>> cluster = from_slurm(
        ...     {
        ...         "SLURM_JOB_ID": "7",
        ...         "SLURM_PROCID": "2",
        ...         "SLURM_STEP_NUM_TASKS": "3",
        ...         "SLURM_STEP_NODELIST": "node[1-2]",
        ...         "SLURM_STEP_TASKS_PER_NODE": "2,1",
        ...     }
        ... )
        >>> str(cluster.task), cluster.jobs["worker"]
        ('worker 2', ('node1:61447', 'node1:61448', 'node2:61447'))
    """
    step = SlurmStep(environment)
    if not step.has_several_tasks:
        return None
    job, rank = step.job_id, step.rank
    addresses = [
        f"{host}:{61440 + (job + local) % 4096}"
        for host, tasks in step.tasks_by_host.items()
        for local in range(tasks)
    ]
    return Cluster({"worker": addresses}, "worker", rank, "the environment variables of Slurm")
