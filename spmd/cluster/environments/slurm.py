"""Slurm: the nodes and tasks of a step, from the variables that `srun` sets.

`srun` starts every task of a *step* with the same command; a task's number in the step is its *rank*.
"""

import itertools
import math
import re
from collections.abc import Mapping

from spmd.cluster.config import Cluster
from spmd.errors import ClusterConfigError

# A list that expands to more is a mistake, and would exhaust memory.
_MAX_ENTRIES = 100_000


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
    # Batch scripts and shells have a step of one task.
    if not {"SLURM_STEP_NODELIST", "SLURM_PROCID"} <= environment.keys() or step.task_count < 2:
        return None
    job, rank = step.job_id, step.rank
    addresses = [
        f"{host}:{61440 + (job + local) % 4096}"
        for host, tasks in step.tasks_by_host.items()
        for local in range(tasks)
    ]
    return Cluster({"worker": addresses}, "worker", rank, "the environment variables of Slurm")


def expand_hostlist(hostlist: str) -> list[str]:
    """Expands comma-separated hosts, in order; brackets hold numbers and ranges, which keep their leading zeros.

    Raises:
        ClusterConfigError: the list is malformed, or too long.

    Examples:
        >>> expand_hostlist("node[1-2,7],gpu[08-10],login")
        ['node1', 'node2', 'node7', 'gpu08', 'gpu09', 'gpu10', 'login']
        >>> expand_hostlist("rack[1-2]n[1-2]")
        ['rack1n1', 'rack1n2', 'rack2n1', 'rack2n2']

    Source: `expand_hostlist` of TensorFlow's `SlurmClusterResolver`, which accepts one pair of brackets.
    """
    parts = re.findall(r"(?:[^,\[\]\s]|\[[0-9,-]+\])+", hostlist)
    if ",".join(parts) != hostlist or not parts:
        raise _bad_list("list of hosts", hostlist, "node[1-2,7]")
    hosts: list[str] = []
    for part in parts:
        pieces = re.split(r"\[(.*?)\]", part)
        choices = [
            _numbers(piece, hostlist) if index % 2 else [piece]
            for index, piece in enumerate(pieces)
        ]
        if len(hosts) + math.prod(map(len, choices)) > _MAX_ENTRIES:
            raise _bad_list("list of hosts", hostlist, "node[1-2,7]")
        hosts += ["".join(chosen) for chosen in itertools.product(*choices)]
    return hosts


def expand_tasks_per_node(tasks_per_node: str) -> list[int]:
    """Expands the number of tasks on each node; one followed by `(xN)` stands for N nodes.

    Raises:
        ClusterConfigError: the list is malformed, or too long.

    Examples:
        >>> expand_tasks_per_node("3(x2),2,1")
        [3, 3, 2, 1]

    Source: `expand_tasks_per_node` of TensorFlow's `SlurmClusterResolver`.
    """
    result: list[int] = []
    for part in tasks_per_node.split(","):
        match = re.fullmatch(r"([0-9]{1,6})(?:\(x([0-9]{1,6})\))?", part)
        times = int(match[2] or 1) if match else 0
        if match is None or int(match[1]) > _MAX_ENTRIES or len(result) + times > _MAX_ENTRIES:
            raise _bad_list("list of tasks per node", tasks_per_node, "3(x2),2")
        result += [int(match[1])] * times
    return result


def _numbers(ranges: str, hostlist: str) -> list[str]:
    found: list[str] = []
    for part in ranges.split(","):
        match = re.fullmatch(r"([0-9]{1,18})(?:-([0-9]{1,18}))?", part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, -1)
        if match is None or not 0 <= last - first < _MAX_ENTRIES:
            raise _bad_list("list of hosts", hostlist, "node[1-2,7]")
        found += [str(number).zfill(len(match[1])) for number in range(first, last + 1)]
    return found


def _bad_list(what: str, text: str, example: str) -> ClusterConfigError:
    return ClusterConfigError(
        f"A {what} from Slurm must look like {example}, and expand to {_MAX_ENTRIES:,} entries at most, but it is {text!r:.80}. "
        "It comes from SLURM_STEP_NODELIST and SLURM_STEP_TASKS_PER_NODE: leave them as srun sets them."
    )
