"""How a program joins the Ray cluster of its tasks: as its chief, or as a client from another machine."""

import atexit
import secrets
import socket
from collections.abc import Mapping, Sequence

import ray

from spmd.servers.remote import nodes

_HEADS: dict[str, nodes.Node] = {}
_REPORT_SECONDS = 30.0


def head_of(jobs: Mapping[str, Sequence[str]]) -> str:
    """Returns the address of a cluster's head: the chief, else the first parameter server, else the first worker.

    Examples:
        >>> head_of({"worker": ["a:1", "b:1"], "ps": ["c:1"]})
        'c:1'
    """
    return next(jobs[job][0] for job in ("chief", "ps", "worker") if jobs.get(job))


def join(jobs: Mapping[str, Sequence[str]], *, is_chief: bool) -> None:
    """Joins a cluster once, with a node of this process's own, which ends with it; blocks until the head is there.

    Args:
        jobs: addresses of the tasks, by job.
        is_chief: whether this process is the chief of the cluster.

    Raises:
        ClusterError: the head cannot be started or reached.
    """
    head = head_of(jobs)
    if head in _HEADS:
        return
    if is_chief and jobs.get("chief"):
        host, port = nodes.split(head)
        node = nodes.Node("chief_0", host, nodes.numeric(head), port)
    else:
        while not nodes.wait_for(head, _REPORT_SECONDS):
            print(f"Waiting for the head of the cluster at {head} ...", flush=True)
        host = _address_towards(head)
        node = nodes.Node(f"client_{secrets.token_hex(4)}", host, nodes.numeric(head))
    try:
        nodes.connect(head, host)
    except BaseException:
        node.close()
        raise
    _HEADS[head] = node
    atexit.register(_leave, head)


def _address_towards(head: str) -> str:
    """Returns the address of this machine from which it reaches another, and under which that is to reach it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(nodes.split(nodes.numeric(head)))  # sends nothing
        return probe.getsockname()[0]


def _leave(head: str) -> None:
    ray.shutdown()
    _HEADS.pop(head).close()
