"""A cluster of `jaxtribute server`s, for tests."""

import contextlib
import json
import subprocess
import sys
from collections.abc import Generator, Mapping
from pathlib import Path

from tests.ports import free_addresses

HERE = Path(__file__).parent
ROOT = HERE.parents[4]


class Servers:
    """Tasks that serve.

    Attributes:
        cluster: their addresses, in JSON.
    """

    def __init__(
        self,
        workers: int,
        environment: Mapping[str, str],
        servers: int = 0,
        script: Path | None = None,
    ) -> None:
        """Starts workers and parameter servers, by a script that reads TF_CONFIG instead of `jaxtribute server`."""
        addresses = free_addresses(workers + servers)
        jobs = {"worker": addresses[:workers], "ps": addresses[workers:]}
        self.cluster = json.dumps({job: listed for job, listed in jobs.items() if listed})
        self._environment, self._script = environment, script
        self._processes: dict[tuple[str, int], subprocess.Popen[bytes]] = {}
        for job, listed in jobs.items():
            for index in range(len(listed)):
                self.start(index, job)

    def start(self, index: int, job: str = "worker") -> None:
        """Starts a task."""
        if self._script is not None:
            config = {"cluster": json.loads(self.cluster), "task": {"type": job, "index": index}}
            environment = {**self._environment, "TF_CONFIG": json.dumps(config)}
            self._processes[job, index] = subprocess.Popen(
                [sys.executable, str(self._script)], cwd=ROOT, env=environment
            )
            return
        command = ["server", "--cluster", self.cluster, "--job", job, "--index", str(index)]
        self._processes[job, index] = subprocess.Popen(
            [sys.executable, "-m", "spmd.cli", *command], cwd=ROOT, env=self._environment
        )

    def kill(self, index: int, job: str = "worker") -> None:
        """Kills a task."""
        process = self._processes.pop((job, index))
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
        """Kills all tasks."""
        for job, index in list(self._processes):
            self.kill(index, job)


@contextlib.contextmanager
def serving(
    workers: int, environment: Mapping[str, str], servers: int = 0, script: Path | None = None
) -> Generator[Servers]:
    """Runs a cluster for a `with` block, whose processes have these environment variables."""
    tasks = Servers(workers, environment, servers, script)
    try:
        yield tasks
    finally:
        tasks.close()
