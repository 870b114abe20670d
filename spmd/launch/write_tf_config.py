"""Writes TF_CONFIG, the variable that describes the cluster to each task."""

import json
import random
import socket
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress

from spmd.cluster import Task

# Above the ports of well-known services and of Ray's processes, below those that Linux takes for connections.
_LASTING_PORTS = range(20_000, 32_000)


def cluster_of(tasks: Sequence[Task], addresses: Sequence[str]) -> dict[str, list[str]]:
    """Groups the addresses of the tasks of a cluster by task type, as in TF_CONFIG.

    As with Kubeflow, an evaluator is not in the cluster: it waits for nobody, and nobody waits for it.

    Examples:
        >>> cluster_of([Task("chief", 0), Task("worker", 0)], ["a:1", "b:1"])
        {'chief': ['a:1'], 'worker': ['b:1']}
    """
    cluster: dict[str, list[str]] = {}
    for task, address in zip(tasks, addresses, strict=True):
        cluster.setdefault(task.task_type, []).append(address)
    return cluster


def write_tf_config(cluster: Mapping[str, Sequence[str]], task: Task) -> str:
    """Writes the TF_CONFIG of one task: JSON on one line.

    Examples:
        >>> print(write_tf_config({"worker": ["a:1"]}, Task("worker", 0)))
        {"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 0}}

    Source: https://www.tensorflow.org/guide/distributed_training#setting_up_the_tf_config_environment_variable
    """
    described = {"type": task.task_type, "index": task.task_index}
    return json.dumps({"cluster": cluster, "task": described})


def free_addresses(count: int) -> list[str]:
    """Finds free ports of the loopback interface, all different.

    Examples:
        >>> len(set(free_addresses(3)))
        3
    """
    with ExitStack() as stack:  # held until all are found, or one might be found twice
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [f"127.0.0.1:{each.getsockname()[1]}" for each in sockets]


def lasting_addresses(count: int) -> list[str]:
    """Finds free ports of the loopback interface that are likely to be free again once their task has ended.

    The system takes ports for connections from a range of its own, so these are below it.

    Examples:
        >>> len(set(lasting_addresses(3)))
        3
    """
    found: list[str] = []
    with ExitStack() as stack:
        for port in random.sample(_LASTING_PORTS, len(_LASTING_PORTS)):
            each = stack.enter_context(socket.socket())
            with suppress(OSError):
                each.bind(("127.0.0.1", port))
                found.append(f"127.0.0.1:{port}")
            if len(found) == count:
                break
    return found
