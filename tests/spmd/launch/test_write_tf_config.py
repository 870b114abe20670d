"""Writing TF_CONFIG."""

import socket

import pytest

from spmd import cluster
from spmd.cluster import Task
from spmd.launch.tasks import Roles
from spmd.launch.write_tf_config import (
    cluster_of,
    free_addresses,
    lasting_addresses,
    write_tf_config,
)


@pytest.mark.parametrize("task", Roles(workers=2, chief=True, evaluator=True).all, ids=str)
def test_what_is_written_is_what_is_read(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    training = Roles(workers=2, chief=True).cluster
    addresses = free_addresses(3)
    monkeypatch.setenv("TF_CONFIG", write_tf_config(cluster_of(training, addresses), task))
    read = cluster.from_tf_config()
    assert str(read.task) == str(task)
    assert [process.address for process in read.processes] == addresses


@pytest.mark.parametrize("find", [free_addresses, lasting_addresses])
def test_free_addresses_are_free(find) -> None:
    for address in find(3):
        host, port = address.split(":")
        with socket.socket() as server:
            server.bind((host, int(port)))


def test_no_connection_takes_a_lasting_address() -> None:
    with open("/proc/sys/net/ipv4/ip_local_port_range") as file:
        first = int(file.read().split()[0])
    assert all(int(address.split(":")[1]) < first for address in lasting_addresses(50))


def test_a_port_in_use_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        taken = server.getsockname()[1]
        free = int(free_addresses(1)[0].split(":")[1])
        monkeypatch.setattr("spmd.launch.write_tf_config._LASTING_PORTS", [taken, free])
        assert lasting_addresses(1) == [f"127.0.0.1:{free}"]
