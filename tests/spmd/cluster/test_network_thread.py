"""The policy of gloo's thread, in a process that starts a backend of processors for a cluster."""

import subprocess
import sys

import pytest

from tests.ports import free_ports

# A sandbox may answer with an error, which Python shows alike.
_REFUSE = """
def refuse(*args):
    raise PermissionError("of the sandbox")
os.sched_setscheduler = refuse
"""
_START = """
import os
import jax
from spmd.cluster.network_thread import schedule_network_thread_as_batch
{before}
for _ in range(2):
    schedule_network_thread_as_batch()
jax.config.update("jax_cpu_collectives_implementation", "gloo")
jax.distributed.initialize("localhost:{port}", 1, 0)
jax.devices()
policies = [os.sched_getscheduler(int(thread)) for thread in os.listdir("/proc/self/task")]
print(policies.count(os.SCHED_BATCH), os.sched_getscheduler(0) == os.SCHED_OTHER)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such policy")
@pytest.mark.parametrize(("before", "batch"), [("", 1), (_REFUSE, 0)])
def test_of_all_threads_gloos_alone_has_the_policy_of_batch(before: str, batch: int) -> None:
    (port,) = free_ports(1)
    code = _START.format(before=before, port=port)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == [str(batch), "True"]
