"""A cluster that loses workers again and again ends where one that loses none does, to the last bit."""

from pathlib import Path

import numpy as np
import pytest

pytestmark = [pytest.mark.multiprocess, pytest.mark.slow]

PROGRAM = Path(__file__).parent / "programs" / "train.py"
INTERVAL, STEPS = 7, 120


@pytest.fixture
def launch(run_python, tmp_path):
    """Trains in a directory by `jaxtribute launch`; gives what was left there, and what was printed."""

    def launch(name, *words, kills=0):
        directory = tmp_path / name
        directory.mkdir()
        done = run_python(
            *("-m", "spmd.cli", "launch", "--workers", 2, "--devices-per-worker", 1, *words),
            *("--max-restarts", kills, "--backoff-seconds", 0, "--grace-seconds", 5),
            *(PROGRAM, directory, kills),
        )
        with np.load(directory / "weights.npz") as weights:
            return directory, [weights[name] for name in weights.files], done

    return launch


def starts(directory, worker):
    """For each start of a worker, the step it went on from and the steps it finished."""
    found = []
    for line in (directory / f"steps-{worker}.txt").read_text().splitlines():
        kind, *numbers = line.split()
        if kind == "start":
            found.append((int(numbers[1]), []))
        else:
            found[-1][1].append(int(numbers[0]))
    return found


def test_five_kills_leave_no_trace(launch):
    _, expected, _ = launch("undisturbed")
    directory, weights, done = launch("killed", kills=5)
    assert done.stderr.count("SIGKILL") >= 5
    for ours, theirs in zip(weights, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    for worker in range(2):
        attempts = starts(directory, worker)
        assert len(attempts) == 6
        assert attempts[-1][1][-1] == STEPS
        last = 0
        for restored, finished in attempts:
            assert last - restored <= INTERVAL
            assert finished == list(range(restored + 1, restored + 1 + len(finished)))
            last = finished[-1] if finished else restored
