"""The policy of XLA's threads, in processes of their own, since it stays as it is."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="others have no such policy")

_TRAIN = """
import os
import numpy as np, spmd
{before}
spmd.simulate_devices({devices})
weight = spmd.Variable(np.ones((8, 4), np.float32), name="weight")
def train(x):
    weight.value -= 0.01 * spmd.all_reduce(x.T @ (x @ weight.value))
for batch in spmd.distribute(np.ones((8, 8), np.float32), batch_size=8):
    spmd.Step(train)(batch)
policies = {{True: set(), False: set()}}
for thread in os.listdir("/proc/self/task"):
    name = open(f"/proc/self/task/{{thread}}/comm").read()
    policies[name.startswith("tf_")].add(os.sched_getscheduler(int(thread)))
print(policies[True] == {{os.SCHED_BATCH}}, policies[False] == {{os.SCHED_OTHER}}, float(weight.value[0, 0]))
"""
_REFUSE = """
def refuse(*args):
    raise PermissionError("of the sandbox")
os.sched_setscheduler = refuse
"""


@pytest.mark.parametrize(
    ("devices", "before", "batch"), [(2, "", True), (1, "", False), (2, _REFUSE, False)]
)
def test_the_pool_of_several_devices_alone_is_batch(devices: int, before: str, batch: bool) -> None:
    code = _TRAIN.format(devices=devices, before=before)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    is_batch, others, weight = run.stdout.split()
    assert (is_batch, others) == (str(batch), "True")
    assert float(weight) == pytest.approx(1 - 0.01 * 64)
