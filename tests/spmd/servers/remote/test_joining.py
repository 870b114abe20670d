"""Joining a cluster: where its head is, and with which node."""

import json
import re
import subprocess
import sys

import pytest

from spmd.servers.remote import joining, nodes
from spmd.servers.remote.errors import TokenError
from tests.ports import free_ports

pytest.importorskip("ray")


def test_the_head():
    jobs = {"worker": ["a:1", "b:1"]}
    assert joining.head_of(jobs) == "a:1"
    assert joining.head_of(jobs | {"ps": ["c:1"]}) == "c:1"
    assert joining.head_of(jobs | {"ps": ["c:1"], "chief": ["d:1"]}) == "d:1"


def test_the_head_of_a_ray_cluster_that_is_there_already(monkeypatch):
    monkeypatch.setenv("JAXTRIBUTE_RAY_ADDRESS", "head-svc:6379")
    jobs = {"chief": ["d:1"], "worker": ["a:1"], "ps": ["c:1"]}
    assert joining.head_of(jobs) == "head-svc:6379"


def test_what_the_head_is():
    jobs = {"chief": ["d:1"], "worker": ["a:1", "b:1"]}
    assert joining.name_of("b:1", jobs) == "worker 1"
    assert joining.name_of("head-svc:6379", jobs) == "the head of the Ray cluster"


@pytest.mark.parametrize("is_chief", [True, False])
def test_a_program_without_a_token_waits_for_nobody(monkeypatch, is_chief):
    monkeypatch.delenv("RAY_AUTH_TOKEN_PATH", raising=False)
    monkeypatch.delenv("RAY_AUTH_TOKEN", raising=False)
    monkeypatch.setattr(nodes, "_FIRST_REPORT_SECONDS", 0.0)
    for host in ("192.0.2.2", "no-such-host.invalid"):
        jobs = {"chief": [f"{host}:1"], "worker": [f"{host}:2"], "ps": [f"{host}:3"]}
        with pytest.raises(TokenError, match="set RAY_AUTH_TOKEN_PATH"):
            joining.join(jobs, "--cluster", is_chief=is_chief)


def test_ctrl_c_at_the_exit_is_quiet_and_ends_the_node(monkeypatch):
    closed = []

    class Node:
        def close(self):
            closed.append(self)

    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr(joining, "_connection", joining._Connection("localhost:1", Node(), None))
    monkeypatch.setattr(joining.ray, "shutdown", interrupted)
    joining._leave_at_exit()
    assert len(closed) == 1
    assert joining._connection is None


_JOIN = """
import json, sys, ray
from spmd.servers.remote import join
jobs = json.loads(sys.argv[1])
join(jobs, "--cluster", is_chief=False)
join(jobs, "--cluster", is_chief=False)
print(sorted(name for name in ray.cluster_resources() if name.startswith(("client_", "worker_"))))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="Ray's nodes are ended by way of /proc")
def test_a_client_has_a_node_of_its_own():
    (port,) = free_ports(1)
    node = nodes.Node("worker_0", "localhost", f"127.0.0.1:{port}", port)
    try:
        command = [sys.executable, "-c", _JOIN, json.dumps({"worker": [f"localhost:{port}"]})]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    finally:
        node.close()
    assert re.fullmatch(r"\['client_\w{8}', 'worker_0'\]", done.stdout.splitlines()[-1])
    assert done.stderr.count(f"Connecting to the cluster at localhost:{port} ...\n") == 1
