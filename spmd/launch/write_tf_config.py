"""Writes TF_CONFIG, the variable that describes the cluster to each task."""

import json
import socket
from collections.abc import Mapping, Sequence
from contextlib import ExitStack

from spmd.cluster import Task


def cluster_of(training: Sequence[Task], addresses: Sequence[str]) -> dict[str, list[str]]:
    """Groups the addresses of the tasks that train by task type, as in TF_CONFIG.

    As with Kubeflow, an evaluator is not in the cluster: it waits for nobody, and nobody waits for it.

    Examples:
        >>> cluster_of([Task("chief", 0), Task("worker", 0)], ["a:1", "b:1"])
        {'chief': ['a:1'], 'worker': ['b:1']}
    """
    cluster: dict[str, list[str]] = {}
    for task, address in zip(training, addresses, strict=True):
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
