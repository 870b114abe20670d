"""Gangs: real processes of a cluster, that a test may stop and kill."""

import os
import signal
import subprocess
import textwrap
import time
from pathlib import Path

import pytest

from spmd.cluster.wire import listen

_SECONDS = 200.0  # reached only by what hangs

# Waits of the engine that are fixed numbers of seconds, shortened; `{}` leaves them as they are.
QUICK = {
    "failures._OF_ANOTHER_SECONDS": 2.0,
    "runtime._APART_SECONDS": 2.0,
    "watchdog._LONGEST_BEAT": 0.5,
    "watchdog._SAME_ERROR_SECONDS": 1.0,
}

# What every script begins with, after the waits; `train` runs steps that wait for all processes.
_START = """
import os, sys, time
from spmd import cluster
from spmd.cluster.watchdog import progress

me = int(sys.argv[1])
cluster.initialize(sys.argv[2:], me, names=["chief 0", *(f"worker {i}" for i in range(len(sys.argv) - 3))])

import jax, numpy as np
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((jax.device_count(),), ("x",))
total = jax.jit(jax.shard_map(lambda x: jax.lax.psum(x, "x"), mesh=mesh, in_specs=P("x"), out_specs=P()))
mine = jax.make_array_from_process_local_data(NamedSharding(mesh, P("x")), np.float32([me + 1]))

def train(steps):
    for step in range(steps):
        progress.step_started()
        output = total(mine)
        progress.step_dispatched((), [output])
        result = float(output.addressable_data(0)[0])
        if step == 2:
            print("trains", result, flush=True)
"""


class Gang:
    """Processes that run one script, each as a task of one cluster."""

    def __init__(self, folder: Path, environment: dict[str, str], start_python) -> None:
        self._folder, self._environment, self._start_python = folder, environment, start_python
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        self.addresses: list[str] = []

    def start(self, script, tasks=2, *, only=None, addresses=None, waits=QUICK, **variables):
        """Starts tasks; `only` those, with their own `addresses` if there are some."""
        if not self.addresses:
            sockets = [listen("127.0.0.1", 0) for _ in range(tasks)]
            self.addresses = [f"127.0.0.1:{one.getsockname()[1]}" for one in sockets]
            for one in sockets:
                one.close()
        path = self._folder / "script.py"
        imports = "from spmd.cluster import failures, runtime, watchdog"
        settings = "".join(f"; {name} = {seconds}" for name, seconds in waits.items())
        path.write_text(imports + settings + _START + textwrap.dedent(script))
        times = {"JAXTRIBUTE_START_TIMEOUT": "100", "JAXTRIBUTE_WATCHDOG_SECONDS": "100"}
        for task in range(tasks) if only is None else only:
            with self.output(task).open("wb") as output:
                self._processes[task] = self._start_python(
                    [path, str(task), *(addresses or self.addresses)],
                    self._environment | times | variables,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    cwd=self._folder,
                )

    def output(self, task):
        return self._folder / f"task{task}.txt"

    def text(self, task):
        return self.output(task).read_text(errors="replace")

    def wait_for(self, word):
        """Waits until all have printed a word."""
        deadline = time.monotonic() + _SECONDS
        while not all(word in self.text(task) for task in self._processes):
            assert time.monotonic() < deadline, [self.text(task) for task in self._processes]
            time.sleep(0.05)

    def send(self, task, what):
        """Sends a task a signal; what becomes of it is no matter any more."""
        self._processes[task].send_signal(what)

    def statuses(self, *tasks):
        """Waits until tasks have ended, and gives their exit codes."""
        deadline = time.monotonic() + _SECONDS
        try:
            return [
                self._processes[task].wait(max(0.1, deadline - time.monotonic())) for task in tasks
            ]
        except subprocess.TimeoutExpired:
            raise AssertionError([self.text(task) for task in self._processes]) from None

    def kill(self):
        for process in self._processes.values():
            if process.poll() is None:
                os.kill(process.pid, signal.SIGKILL)
                process.wait()


@pytest.fixture
def gang(tmp_path, fresh_environment, start_python):
    """A gang that is not started yet; nothing of it outlives the test."""
    one = Gang(tmp_path, fresh_environment, start_python)
    yield one
    one.kill()
