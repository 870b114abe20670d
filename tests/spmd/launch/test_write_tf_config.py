"""Writing TF_CONFIG."""

import socket

import pytest

from spmd import cluster
from spmd.cluster import Task
from spmd.launch.tasks import Roles
from spmd.launch.write_tf_config import cluster_of, free_addresses, write_tf_config


@pytest.mark.parametrize("task", Roles(workers=2, chief=True, evaluator=True).all, ids=str)
def test_what_is_written_is_what_is_read(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    training = Roles(workers=2, chief=True).training
    addresses = free_addresses(3)
    monkeypatch.setenv("TF_CONFIG", write_tf_config(cluster_of(training, addresses), task))
    read = cluster.from_tf_config()
    assert str(read.task) == str(task)
    assert [process.address for process in read.processes] == addresses


def test_free_addresses_are_free() -> None:
    for address in free_addresses(3):
        host, port = address.split(":")
        with socket.socket() as server:
            server.bind((host, int(port)))
