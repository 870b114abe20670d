"""A cluster of `jaxtribute server`s, for tests."""

import contextlib
import json
import subprocess
import sys
from collections.abc import Generator, Mapping
from pathlib import Path

from tests.multiprocess.conftest import free_ports

HERE = Path(__file__).parent
ROOT = HERE.parents[4]


class Servers:
    """Workers that serve.

    Attributes:
        cluster: their addresses, in JSON.
    """

    def __init__(self, workers: int, environment: Mapping[str, str]) -> None:
        """Starts the workers."""
        addresses = [f"localhost:{port}" for port in free_ports(workers)]
        self.cluster = json.dumps({"worker": addresses})
        self._environment = environment
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        for index in range(workers):
            self.start(index)

    def start(self, index: int) -> None:
        """Starts a worker."""
        command = ["server", "--cluster", self.cluster, "--job", "worker", "--index", str(index)]
        self._processes[index] = subprocess.Popen(
            [sys.executable, "-m", "spmd.cli", *command], cwd=ROOT, env=self._environment
        )

    def kill(self, index: int) -> None:
        """Kills a worker."""
        process = self._processes.pop(index)
        process.kill()
        process.wait()

    def program(self, name: str, *arguments: str) -> "subprocess.Popen[str]":
        """Starts a program of this folder, which connects to the workers."""
        return subprocess.Popen(
            [sys.executable, str(HERE / name), self.cluster, *arguments],
            cwd=ROOT,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def close(self) -> None:
        """Kills all workers."""
        for index in list(self._processes):
            self.kill(index)


@contextlib.contextmanager
def serving(workers: int, environment: Mapping[str, str]) -> Generator[Servers]:
    """Runs a cluster for a `with` block, whose processes have these environment variables."""
    servers = Servers(workers, environment)
    try:
        yield servers
    finally:
        servers.close()
