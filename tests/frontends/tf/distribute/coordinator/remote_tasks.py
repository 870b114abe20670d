"""A cluster of real processes, for tests: `python -m` this runs one task of it, or the coordinator's cases.

The roles are TensorFlow's: each process finds its own in TF_CONFIG.
"""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

from tests.ports import free_addresses

ROOT = Path(__file__).resolve().parents[5]
_SERVER = "import tests.frontends.tf.distribute.coordinator.remote_tasks as t; t.serve()"


def serve() -> None:
    """Serves as the task that TF_CONFIG names."""
    from frontends import tf

    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    tf.distribute.Server(
        resolver.cluster_spec(), job_name=resolver.task_type, task_index=resolver.task_id
    ).join()


class Tasks:
    """The processes of a cluster.

    Attributes:
        processes: of the servers and workers, by name.
    """

    def __init__(self, workers: int, servers: int, *, chief: bool = True) -> None:
        """Starts servers and workers; what they print goes to the test's output.

        Args:
            workers: how many.
            servers: how many parameter servers.
            chief: whether the coordinator is a task of the cluster.
        """
        names = [f"worker_{index}" for index in range(workers)]
        names += [f"ps_{index}" for index in range(servers)]
        names += ["chief_0"] * chief
        addresses = dict(zip(names, free_addresses(len(names)), strict=True))
        self._cluster: dict[str, list[str]] = {}
        for name, address in addresses.items():
            self._cluster.setdefault(name.rpartition("_")[0], []).append(address)
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        for name in names[: workers + servers]:
            self.start(name)

    def address(self, name: str) -> str:
        """Returns the address of a task."""
        job, _, index = name.rpartition("_")
        return self._cluster[job][int(index)]

    def environment(self, name: str) -> dict[str, str]:
        """Returns the environment variables of a task, or of a coordinator that is none."""
        job, _, index = name.rpartition("_")
        config: dict[str, Any] = {"cluster": self._cluster}
        if job in self._cluster:
            config["task"] = {"type": job, "index": int(index)}
        own = {"TF_CONFIG": json.dumps(config), "PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"}
        return os.environ | own

    def start(self, name: str) -> None:
        """Starts a server or worker."""
        self.processes[name] = subprocess.Popen(
            [sys.executable, "-c", _SERVER], cwd=ROOT, env=self.environment(name)
        )

    def coordinate(self, *command: str, seconds: float) -> str:
        """Runs a coordinator's program to its end; returns what it printed."""
        done = subprocess.run(
            [sys.executable, *command],
            cwd=ROOT,
            env=self.environment("chief_0"),
            stdout=subprocess.PIPE,
            timeout=seconds,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout

    def close(self) -> None:
        """Kills all tasks."""
        for process in self.processes.values():
            process.kill()
            process.wait()


@contextlib.contextmanager
def running(workers: int, servers: int, *, chief: bool = True) -> Generator[Tasks]:
    """Runs a cluster for a `with` block."""
    tasks = Tasks(workers, servers, chief=chief)
    try:
        yield tasks
    finally:
        tasks.close()


def last_line(output: str) -> Any:
    """Returns what the last line of an output says, in JSON."""
    return json.loads(output.splitlines()[-1])
