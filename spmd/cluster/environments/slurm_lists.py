"""The compressed lists in Slurm's environment variables, such as `node[1-2,7]` and `3(x2),2`."""

import itertools
import math
import re

from spmd.errors import ClusterConfigError

# A list that expands to more is a mistake, and would exhaust memory.
_MAX_ENTRIES = 100_000


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
