"""A cluster of tasks as its coordinator sees it."""

import subprocess
import sys

import pytest

from spmd.servers.remote import nodes
from tests.ports import free_ports

pytest.importorskip("ray")

_START = """
import sys, types
from spmd.servers.remote import cluster, join

class Absent:
    def beat(self):
        pass

# As of a module that only another version of the project has.
sys.modules["absent"] = types.ModuleType("absent")
sys.modules["absent"].Absent, Absent.__module__ = Absent, "absent"
cluster.StoreActor = Absent
cluster.GROUPS = {}
jobs = {"ps": [sys.argv[1]]}
join(jobs, "--cluster", is_chief=False)
cluster._started(["ps_0"], sys.argv[1])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="Ray's nodes are ended by way of /proc")
def test_a_task_that_cannot_run_the_programs_code_is_an_error():
    (port,) = free_ports(1)
    node = nodes.Node("ps_0", "localhost", f"127.0.0.1:{port}", port)
    try:
        command = [sys.executable, "-c", _START, f"localhost:{port}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    finally:
        node.close()
    assert "ClusterError: The task ps 0 cannot run what this program sends." in done.stderr
    assert "use the same versions of Python, Ray, JAX and jaxtribute" in done.stderr
    assert "No module named 'absent'" in done.stderr
