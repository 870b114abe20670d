"""How a program joins the Ray cluster of its tasks: as its chief, or as a client from another machine."""

import atexit
import contextlib
import dataclasses
import os
import secrets
import socket
import sys
from collections.abc import Mapping, Sequence

import ray

from spmd.cluster import RAY_ADDRESS_VARIABLE, ray_address
from spmd.servers.remote import nodes
from spmd.servers.remote._ray import identity
from spmd.servers.remote.calls import kept_out
from spmd.servers.remote.errors import ClusterError, TokenError

# How long other threads' calls are waited for; those that wait for something do so for two seconds at a time.
_CALL_SECONDS = 10.0
_TRIES = 3


@dataclasses.dataclass(frozen=True)
class _Connection:
    head: str
    node: nodes.Node
    identity: str | None


# A process is in one Ray cluster at a time.
_connection: _Connection | None = None


def head_of(jobs: Mapping[str, Sequence[str]]) -> str:
    """Returns the address of a cluster's head: the chief, else the first parameter server, else the first worker.

    If there is a Ray cluster already (`spmd.cluster.ray_address`), its head is that of the tasks.

    Examples:
        >>> head_of({"worker": ["a:1", "b:1"], "ps": ["c:1"]})
        'c:1'
    """
    address = ray_address(os.environ)
    return address or next(jobs[job][0] for job in ("chief", "ps", "worker") if jobs.get(job))


def join(jobs: Mapping[str, Sequence[str]], source: str, *, is_chief: bool) -> None:
    """Joins a cluster, with a node of this process's own, which ends with it; blocks until the head is there.

    Does nothing if this process is in it, and its head still there. It leaves the cluster that it was in before.

    Args:
        jobs: addresses of the tasks, by job.
        source: where the addresses come from, for messages.
        is_chief: whether this process is the chief of the cluster.

    Raises:
        ClusterError: the head cannot be started or reached.
        TokenError: the head refuses the token, or there is none that would do.
    """
    global _connection
    head = head_of(jobs)
    if _connection is not None and _connection.head == head and is_joined():
        return
    leave()
    nodes.check_token(head)
    source = RAY_ADDRESS_VARIABLE if ray_address(os.environ) else source
    with nodes.addresses_from(source):
        if is_chief and jobs.get("chief") and not ray_address(os.environ):
            host, port = nodes.split(head)
            nodes.wait_for_name(host)
            nodes.wait_until_free("chief_0", head)
            node = nodes.Node("chief_0", host, nodes.numeric(head), port)
        else:
            print(f"Connecting to the cluster at {head} ...", file=sys.stderr, flush=True)
            host, node = _client(head, name_of(head, jobs), source)
    try:
        nodes.connect(head, host)
        _connection = _Connection(head, node, identity(nodes.numeric(head)))
    except BaseException:
        node.close()
        raise


def resources_of(task: str) -> dict[str, float]:
    """Returns the resources that pin an actor to a task, such as `"worker_0"`."""
    if ray_address(os.environ):  # its nodes have no names, but each is of a kind, and is one task
        return {task.rpartition("_")[0]: 1}
    return {task: 0.001}


def is_joined() -> bool:
    """Tells whether this process is in a cluster whose head is there, and has not been started anew."""
    if _connection is None or not _connection.node.is_running():
        return False
    found = identity(nodes.numeric(_connection.head))
    return found is not None and found == _connection.identity


def name_of(head: str, jobs: Mapping[str, Sequence[str]]) -> str:
    """Says what the head is: a task, or the head of a Ray cluster that somebody else started."""
    for job, addresses in jobs.items():
        if head in addresses:
            return f"{job} {addresses.index(head)}"
    return "the head of the Ray cluster"


def _client(head: str, task: str, source: str) -> tuple[str, nodes.Node]:
    """Starts the node of a program that is no task of the cluster; returns the address of this machine, too."""
    for tried in range(1, _TRIES + 1):
        nodes.wait_for_head(head, task, source)
        host = _address_towards(head)
        try:
            return host, nodes.Node(f"client_{secrets.token_hex(4)}", host, nodes.numeric(head))
        except TokenError:
            raise
        except ClusterError:  # the head has just gone
            if tried == _TRIES:
                raise
    raise AssertionError


def leave_if_lost() -> None:
    """Leaves a cluster whose head is gone, before Ray ends this process for it."""
    if not is_joined():
        leave()


def _address_towards(head: str) -> str:
    """Returns the address of this machine from which it reaches another, and under which that is to reach it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(nodes.split(nodes.numeric(head)))  # sends nothing
        return probe.getsockname()[0]


def leave() -> None:
    """Leaves the cluster that this process is in, if any."""
    global _connection
    if _connection is not None:
        try:
            with kept_out(_CALL_SECONDS):
                ray.shutdown()
        finally:
            _connection.node.close()
            _connection = None


@atexit.register
def _leave_at_exit() -> None:
    # Who presses Ctrl-C now gets what they ask for: the program ends.
    with contextlib.suppress(KeyboardInterrupt):
        leave()
