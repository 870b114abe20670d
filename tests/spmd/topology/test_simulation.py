"""XLA's own flag for several CPU devices, in processes of their own: a process has one thread pool."""

import re
import subprocess
import sys

import pytest

from spmd.topology.simulation import simulation_environment

FLAG = "--xla_force_host_platform_device_count"


@pytest.fixture
def run(fresh_environment):
    """Runs a script in a new process: those of `run_python` have imported the package before."""

    def start(script, **variables):
        environment = {**fresh_environment, **variables}
        command = [sys.executable, "-c", script]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True)

    return start


@pytest.mark.parametrize(
    ("variables", "least"),
    [({"XLA_FLAGS": f"{FLAG}=8"}, 20), ({"XLA_FLAGS": f"{FLAG}=8", "NPROC": "2"}, 20)],
)
def test_the_thread_pool_is_large_enough(run, variables, least):
    script = "import os, spmd; print(os.environ['NPROC'], len(spmd.make_mesh(['cpu']).devices))"
    threads, devices = map(int, run(script, **variables).stdout.split())
    assert threads >= least
    assert devices == 8


def test_what_needs_no_more_threads_is_left_alone(run):
    script = "import os, spmd; print(os.environ.get('NPROC'))"
    assert run(script, XLA_FLAGS=f"{FLAG}=8", NPROC="64").stdout.strip() == "64"
    assert run(script, XLA_FLAGS=f"{FLAG}=1").stdout.strip() == "None"
    assert run(script).stdout.strip() == "None"


def test_a_backend_that_runs_already_is_warned_of_once(run):
    script = "import jax; jax.devices(); import spmd; spmd.make_mesh(); spmd.make_mesh()"
    warned = run(script, XLA_FLAGS=f"{FLAG}=8").stderr
    assert (
        len(
            re.findall(
                r"UserWarning: .*started with 8 CPU devices.* or start the script with NPROC=\d+",
                warned,
            )
        )
        == 1
    )
    assert "<string>:1: UserWarning" in warned


def test_former_flags_stay():
    made = simulation_environment(4, {"XLA_FLAGS": f"--a=1 {FLAG}=2 --b=2", "NPROC": "100"})
    assert made == {"XLA_FLAGS": f"--a=1  --b=2 {FLAG}=4"}
