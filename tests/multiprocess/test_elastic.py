"""A job that loses workers and takes them back trains as one that has a fixed number: with the same rows, to float32 tolerance."""

import dataclasses
import re
import secrets
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tests.ports import free_ports

pytestmark = [pytest.mark.multiprocess, pytest.mark.slow]

PROGRAM = Path(__file__).parent / "programs" / "elastic.py"
STEPS, KILL_AT, INTERVAL, ROWS, STEPS_OF_EPOCH = 60, 14, 4, 230, 10


@dataclasses.dataclass
class Run:
    """What a job left: workers and first step of each attempt, and of the last run of each step its loss and rows."""

    attempts: list[tuple[int, int]]
    losses: dict[int, float]
    rows: dict[int, list[int]]
    weights: list[np.ndarray]

    @classmethod
    def of(cls, directory: Path) -> "Run":
        attempts, losses, rows = [], {}, {}
        for line in (directory / "notes.txt").read_text().splitlines():
            kind, first, second, *more = line.split()
            if kind == "attempt":
                attempts.append((int(first), int(second)))
            else:
                losses[int(first)], rows[int(first)] = float(second), [int(row) for row in more]
        with np.load(directory / "weights.npz") as weights:
            return cls(attempts, losses, rows, [weights[name] for name in weights.files])


def compare(run: Run, fixed: Run) -> None:
    """Fails unless both trained with the same rows, each once in an epoch, to the same numbers."""
    steps = range(1, STEPS + 1)
    assert sorted(run.losses) == sorted(fixed.losses) == list(steps)
    assert run.rows == fixed.rows
    for first in steps[::STEPS_OF_EPOCH]:
        epoch = [row for step in range(first, first + STEPS_OF_EPOCH) for row in run.rows[step]]
        assert sorted(epoch) == list(range(ROWS))
    losses = [[each.losses[step] for step in steps] for each in (run, fixed)]
    np.testing.assert_allclose(*losses, rtol=1e-4, atol=1e-6)
    for ours, theirs in zip(run.weights, fixed.weights, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


@pytest.fixture
def fixed(run_cluster, tmp_path) -> Run:
    """A run on a number of workers that does not change."""
    (tmp_path / "fixed").mkdir()
    run_cluster(PROGRAM, tmp_path / "fixed", workers=2)
    return Run.of(tmp_path / "fixed")


def test_two_of_four_workers_are_lost_and_come_back(run_python, tmp_path, fixed) -> None:
    directory = tmp_path / "elastic"
    directory.mkdir()
    done = run_python(
        *("-m", "spmd.cli", "launch", "--workers", "2:4", "--devices-per-worker", 1),
        *("--backoff-seconds", 0, "--regrow-seconds", 60, PROGRAM, directory, 1, 3),
    )
    assert "worker 1, worker 3 were lost; goes on with 2 of 4 workers" in done.stderr
    assert "starts again with 4 workers, after 60 s with 2: SIGTERM" in done.stderr
    assert "ended well after 1 restart" in done.stderr
    assert re.findall(r"\d │ +(\d) │", done.stderr) == ["4", "2", "4"]
    run = Run.of(directory)
    (first, second, third) = run.attempts
    assert (first, second) == ((4, 0), (2, KILL_AT // INTERVAL * INTERVAL))
    assert third[0] == 4
    assert KILL_AT < third[1] < STEPS  # two workers trained, and those that came back did
    compare(run, fixed)


@pytest.fixture
def start_agents(fresh_environment, tmp_path):
    """Starts agents of a job of two to four workers that train in a directory; what they print is in files there."""
    (port,), started = free_ports(1), []
    environment = {
        **fresh_environment,
        **{"RAY_AUTH_TOKEN": secrets.token_hex(16), "KILL_LAUNCHERS": "yes"},
    }

    def start(count, directory):
        words = [
            *("-m", "spmd.cli", "launch", "--rendezvous", f"localhost:{port}", "--workers", "2:4"),
            *("--devices-per-worker", "1", "--settle-seconds", "20", PROGRAM, directory, "1", "3"),
        ]
        for _ in range(count):
            with open(directory / f"agent-{len(started)}.txt", "w") as output:
                command = [sys.executable, *map(str, words)]
                started.append(
                    subprocess.Popen(
                        command, env=environment, cwd=tmp_path, stdout=output, stderr=output
                    )
                )
        return started[-count:]

    yield start
    for agent in started:
        agent.kill()
        agent.wait()


def test_two_of_four_machines_are_lost_and_come_back(start_agents, tmp_path, fixed) -> None:
    """Each agent stands for a machine: those that are lost get SIGKILL, and their workers with them."""
    directory = tmp_path / "elastic"
    directory.mkdir()
    agents, notes = start_agents(4, directory), directory / "notes.txt"

    def wait_until(condition, seconds=400):
        deadline = time.monotonic() + seconds
        while not condition():
            output = [path.read_text() for path in sorted(directory.glob("agent-*.txt"))]
            assert time.monotonic() < deadline, "\n".join(output)
            time.sleep(0.2)

    def have_two_trained() -> bool:
        *_, last = notes.read_text().split("attempt ") if notes.exists() else [""]
        return last.startswith("2 ") and last.count("step ") > INTERVAL

    wait_until(have_two_trained)
    lost = [agent for agent in agents if agent.poll() is not None]
    assert len(lost) == 2
    agents = [agent for agent in agents if agent not in lost] + start_agents(2, directory)
    wait_until(lambda: all(agent.poll() is not None for agent in agents))
    assert [agent.returncode for agent in agents] == [0] * 4
    run = Run.of(directory)
    assert run.attempts[0] == (4, 0)
    assert (2, KILL_AT // INTERVAL * INTERVAL) in run.attempts
    assert run.attempts[-1][0] == 4
    assert KILL_AT < run.attempts[-1][1] < STEPS
    compare(run, fixed)
