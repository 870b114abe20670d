"""Real processes that make a cluster on this machine."""

import dataclasses
import json
import os
import re
import signal
import subprocess
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from spmd.topology.simulation import simulation_environment
from tests.ports import free_ports

# Longer than anything here takes on a busy machine: reached only by what hangs.
_SECONDS = 300


# Threads of gloo print at the same time, in pieces of lines. They print by C++: what Python prints goes another way.
# Scripts begin with an empty line, whose place this takes.
_APART = "import os, sys; sys.stdout = open(os.dup(1), 'w', buffering=1); os.dup2(2, 1)"

_GLOO = re.compile(r"\[Gloo\] Rank |\d* is connected to \d* peer ranks\..* is : \d*\n?")


@dataclasses.dataclass
class Ended:
    """A task that has ended."""

    status: int
    stdout: str
    stderr: str

    @property
    def lines(self) -> list[str]:
        """What the script printed, without what gloo prints."""
        return [line for line in _GLOO.sub("", self.stdout).splitlines() if line]


@pytest.fixture
def run_cluster(
    fresh_environment: dict[str, str],
    start_python: Callable[..., subprocess.Popen],
    tmp_path: Path,
) -> Callable[..., list[Ended]]:
    """Runs a script as every task of a cluster of workers; gives how they ended, in order.

    One worker gets no TF_CONFIG. All must end with `status`, unless that is None. `{task}` in a word
    becomes the worker's index.
    """

    def run(
        script: str | Path,
        *words: object,
        workers: int = 2,
        devices: int = 1,
        status=0,
        **variables,
    ) -> list[Ended]:
        if isinstance(script, str):
            path = tmp_path / "script.py"
            path.write_text(_APART + textwrap.dedent(script))
            script = path
        ports = free_ports(workers)
        tasks = []
        for index in range(workers):
            config = {
                "cluster": {"worker": [f"localhost:{port}" for port in ports]},
                "task": {"type": "worker", "index": index},
            }
            environment = {
                **fresh_environment,
                **simulation_environment(devices, fresh_environment),
                "JAX_NUM_CPU_DEVICES": str(devices),
                **({"TF_CONFIG": json.dumps(config)} if workers > 1 else {}),
                "JAXTRIBUTE_START_TIMEOUT": "200",
                **{name: str(value) for name, value in variables.items()},
            }
            tasks.append(
                start_python(
                    [script, *(str(word).format(task=index) for word in words)],
                    environment,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                    cwd=tmp_path,
                    start_new_session=True,
                )
            )
        try:
            outputs = [task.communicate(timeout=_SECONDS) for task in tasks]
        finally:
            for task in tasks:
                if task.poll() is None:
                    os.killpg(task.pid, signal.SIGKILL)
                    task.wait()
        ended = [
            Ended(task.returncode, *output) for task, output in zip(tasks, outputs, strict=True)
        ]
        for task in ended:
            assert status is None or task.status == status, task.stderr
        return ended

    return run
