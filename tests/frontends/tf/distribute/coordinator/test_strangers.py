"""Who may connect: strangers on every port of a cluster, while it works; and on which interfaces it listens."""

import contextlib
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.frontends.tf.distribute.coordinator.remote_tasks import ROOT, Tasks, running
from tests.frontends.tf.distribute.coordinator.test_failures import Program, program

pytestmark = [
    pytest.mark.slow,
    pytest.mark.multiprocess,
    pytest.mark.xdist_group("ray"),
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]
_LISTENS = "0A"
_LOOPBACK = "0100007F"
# Of a stranger's HTTP/2: the preface, empty settings.
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
_GARBAGE = [
    b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"POST /get_or_create_runtime_env HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nabcd",
    b"POST /get_or_create_runtime_env HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer wrong\r\n"
    b"Content-Length: 0\r\n\r\n",
    os.urandom(5000),
    b"\0" * 100_000,
    _PREFACE + os.urandom(1000),
]
# What can be asked of each of Ray's processes, and would do harm or tell something.
_METHODS = [
    "ray.rpc.NodeInfoGcsService/GetAllNodeInfo",
    "ray.rpc.InternalKVGcsService/InternalKVKeys",
    "ray.rpc.NodeManagerService/ShutdownRaylet",
    "ray.rpc.NodeManagerService/GetNodeStats",
    "ray.rpc.ObjectManagerService/Push",
    "ray.rpc.ObjectManagerService/FreeObjects",
    "ray.rpc.CoreWorkerService/PushTask",
    "ray.rpc.CoreWorkerService/KillActor",
    "ray.rpc.CoreWorkerService/Exit",
]


def listening(tasks: Tasks, one: Program) -> dict[int, str]:
    """Returns the port and address of all that the processes of a cluster listen on."""
    owners = [one.process.pid, *(task.pid for task in tasks.processes.values())]
    marks = {f"JAXTRIBUTE_TASK_OUTPUT=/proc/{owner}/fd".encode() for owner in owners}
    open_files: set[str] = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            environment = set((folder / "environ").read_bytes().split(b"\0"))
            if int(folder.name) in owners or not marks.isdisjoint(environment):
                for file in (folder / "fd").iterdir():
                    with contextlib.suppress(OSError):
                        if match := re.match(r"socket:\[(\d+)\]", os.readlink(file)):
                            open_files.add(match.group(1))
    found = {}
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == _LISTENS and fields[9] in open_files:
                address, _, port = fields[1].partition(":")
                found[int(port, 16)] = address
    return found


def _answers(port: int) -> Iterator[bytes]:
    """Sends garbage to a port; returns what comes back."""
    for garbage in _GARBAGE:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 2) as one:
            one.settimeout(0.3)
            one.sendall(garbage)
            yield one.recv(200)


def _codes(port: int, token: str | None) -> set[str]:
    """Calls gRPC methods of a port; returns how they ended."""
    grpc: Any = pytest.importorskip("grpc")
    found = set()
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        for method in _METHODS:
            metadata = None if token is None else (("authorization", f"Bearer {token}"),)
            try:
                channel.unary_unary(f"/{method}")(b"", timeout=2, metadata=metadata)
            except grpc.RpcError as error:
                found.add(error.code().name)
            else:
                found.add("OK")
    return found


@pytest.fixture(scope="module")
def cluster() -> Iterator[tuple[Tasks, Program]]:
    with running(workers=2, servers=1) as tasks, program(tasks) as one:
        one.ask("wait 20 0.01")
        yield tasks, one


def test_on_one_machine_only_the_loopback_interface_listens(cluster):
    ports = listening(*cluster)
    # At least a head, and of each node the manager, the objects and an agent.
    assert len(ports) > 12
    assert {address[-8:] for address in ports.values()} == {_LOOPBACK}


def test_strangers_are_refused_and_the_job_goes_on(cluster):
    tasks, one = cluster
    one.tell("wait 200 0.5")
    for port in listening(tasks, one):
        for answer in _answers(port):
            assert not answer.startswith(b"HTTP/1.1 2"), (port, answer)
        for token in (None, "x" * 64):
            codes = _codes(port, token)
            print(port, codes)
            # UNAVAILABLE: the port speaks no gRPC; UNIMPLEMENTED: the methods of other processes.
            assert codes <= {"UNAUTHENTICATED", "UNIMPLEMENTED", "UNAVAILABLE"}
            assert "UNAUTHENTICATED" in codes or codes == {"UNAVAILABLE"}
    answer = one.answer()
    assert answer == {**answer, "ran": 200, "counted": 200, "workers": [0, 1]}


_JOIN = """
import sys
from spmd.servers.remote import nodes
nodes.Node("worker_9", "localhost", sys.argv[1])
"""


@pytest.mark.parametrize("token", ["x" * 64, "", None])
def test_without_the_token_nobody_joins(cluster, tmp_path, token):
    tasks, _ = cluster
    path = tmp_path / "token"
    if token is not None:
        path.touch(0o600)
        path.write_text(token)
    done = subprocess.run(
        [sys.executable, "-c", _JOIN, tasks.address("chief_0").replace("localhost", "127.0.0.1")],
        env=os.environ | {"RAY_AUTH_TOKEN_PATH": str(path), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 1
    message = done.stderr.splitlines()[-1]
    assert "TokenError" in message
    assert str(path) in message
    assert ("openssl rand" if token == "" else "set RAY_AUTH_TOKEN_PATH") in message
