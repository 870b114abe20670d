"""What Slurm's environment variables say: hosts, tasks on each, and which one this is.

`srun` starts every task of a *step* with the same command and these variables; a task's number in the
step is its *rank*.
"""

import itertools
import re
from collections.abc import Mapping

from spmd.cluster.config import Cluster
from spmd.errors import ClusterConfigError

# A list that expands to more is a mistake, which would fill the memory.
_MOST = 100_000


def from_slurm(environment: Mapping[str, str]) -> Cluster | None:
    """Reads the cluster of a Slurm step, whose tasks all train.

    Ports are those that `jax.distributed` picks for a Slurm job, from its number; further tasks of a
    node have the next ones. Ranks count along the list of nodes, as Slurm does unless `--distribution`
    says otherwise.

    Args:
        environment: environment variables.

    Returns:
        The cluster, whose tasks are workers; None outside of a step of several tasks.

    Raises:
        ClusterConfigError: a variable cannot be read.

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
    if "SLURM_STEP_NODELIST" not in environment or "SLURM_PROCID" not in environment:
        return None
    if read_number(environment, "SLURM_STEP_NUM_TASKS") <= 1:
        return None  # a batch script, or a shell: Slurm gives them a step of their own
    job, rank = read_number(environment, "SLURM_JOB_ID"), read_number(environment, "SLURM_PROCID")
    addresses = [
        f"{host}:{61440 + (job + local) % 4096}"
        for host, tasks in tasks_by_host(environment).items()
        for local in range(tasks)
    ]
    return Cluster({"worker": addresses}, "worker", rank, "the environment variables of Slurm")


def tasks_by_host(environment: Mapping[str, str]) -> dict[str, int]:
    """Counts the tasks of a step on each of its nodes.

    Args:
        environment: environment variables.

    Returns:
        Number of tasks by host, in Slurm's order.

    Raises:
        ClusterConfigError: a variable is missing, or the two do not fit together.
    """
    hosts = expand_hostlist(read_variable(environment, "SLURM_STEP_NODELIST"))
    tasks = expand_tasks_per_node(read_variable(environment, "SLURM_STEP_TASKS_PER_NODE"))
    if len(hosts) != len(tasks):
        raise ClusterConfigError(
            f"SLURM_STEP_NODELIST has {len(hosts)} node(s), but SLURM_STEP_TASKS_PER_NODE has {len(tasks)} "
            f"({', '.join(hosts[:4])}; {tasks[:4]}). Start the script with srun, and leave these variables as "
            "they are.",
            key="SLURM_STEP_TASKS_PER_NODE",
        )
    return dict(zip(hosts, tasks, strict=True))


def read_variable(environment: Mapping[str, str], name: str) -> str:
    """Looks up a variable that Slurm sets.

    Args:
        environment: environment variables.
        name: name of the variable.

    Raises:
        ClusterConfigError: it is not set.
    """
    if name not in environment:
        raise ClusterConfigError(
            f"The environment variable {name} is not set, so this is not a task of a Slurm step. Start the "
            "script with srun, as in: srun --ntasks=2 python train.py",
            key=name,
        )
    return environment[name]


def read_number(environment: Mapping[str, str], name: str) -> int:
    """Looks up a variable of Slurm that holds a number.

    Args:
        environment: environment variables.
        name: name of the variable.

    Raises:
        ClusterConfigError: it is not set, or no number.
    """
    text = read_variable(environment, name)
    if not re.fullmatch(r"[0-9]{1,18}", text):
        raise ClusterConfigError(
            f"The environment variable {name} must be a number, but it is {text!r:.80}. Start the script with "
            "srun, which sets it.",
            key=name,
        )
    return int(text)


def expand_hostlist(hostlist: str) -> list[str]:
    """Lists the hosts that Slurm's short form stands for.

    Args:
        hostlist: names with commas between them; brackets hold numbers and ranges of numbers.

    Returns:
        The hosts, in order. Numbers keep their leading zeros.

    Raises:
        ClusterConfigError: the brackets or the ranges make no sense.

    Examples:
        >>> expand_hostlist("node[1-2,7],gpu[08-10],login")
        ['node1', 'node2', 'node7', 'gpu08', 'gpu09', 'gpu10', 'login']
        >>> expand_hostlist("rack[1-2]n[1-2]")
        ['rack1n1', 'rack1n2', 'rack2n1', 'rack2n2']

    Source: `expand_hostlist` of TensorFlow's `SlurmClusterResolver`, which takes one pair of brackets.
    """
    parts = re.findall(r"(?:[^,\[\]\s]|\[[0-9,-]+\])+", hostlist)
    if ",".join(parts) != hostlist or not parts:
        raise _bad_list("list of hosts", hostlist, "node[1-2,7]")
    hosts: list[str] = []
    for part in parts:
        pieces = re.split(r"\[(.*?)\]", part)
        choices = [
            _numbers(piece, hostlist) if at % 2 else [piece] for at, piece in enumerate(pieces)
        ]
        count = 1
        for choice in choices:
            count *= len(choice)
        if len(hosts) + count > _MOST:
            raise _bad_list("list of hosts", hostlist, "node[1-2,7]")
        hosts += ["".join(chosen) for chosen in itertools.product(*choices)]
    return hosts


def expand_tasks_per_node(tasks_per_node: str) -> list[int]:
    """Lists the numbers of tasks that Slurm's short form stands for.

    Args:
        tasks_per_node: numbers with commas between them, each with `(xN)` if it stands for N nodes.

    Returns:
        The number of tasks on each node.

    Raises:
        ClusterConfigError: it has another form.

    Examples:
        >>> expand_tasks_per_node("3(x2),2,1")
        [3, 3, 2, 1]

    Source: `expand_tasks_per_node` of TensorFlow's `SlurmClusterResolver`.
    """
    result: list[int] = []
    for part in tasks_per_node.split(","):
        match = re.fullmatch(r"([0-9]{1,6})(?:\(x([0-9]{1,6})\))?", part)
        times = int(match[2] or 1) if match else 0
        if match is None or int(match[1]) > _MOST or len(result) + times > _MOST:
            raise _bad_list("list of tasks per node", tasks_per_node, "3(x2),2")
        result += [int(match[1])] * times
    return result


def _numbers(ranges: str, hostlist: str) -> list[str]:
    found: list[str] = []
    for part in ranges.split(","):
        match = re.fullmatch(r"([0-9]{1,18})(?:-([0-9]{1,18}))?", part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, -1)
        if match is None or not 0 <= last - first < _MOST:
            raise _bad_list("list of hosts", hostlist, "node[1-2,7]")
        found += [str(number).zfill(len(match[1])) for number in range(first, last + 1)]
    return found


def _bad_list(what: str, text: str, example: str) -> ClusterConfigError:
    return ClusterConfigError(
        f"A {what} from Slurm must look like {example}, and stand for {_MOST:,} at most, but it is {text!r:.80}. "
        "It comes from SLURM_STEP_NODELIST and SLURM_STEP_TASKS_PER_NODE: leave them as srun sets them."
    )
