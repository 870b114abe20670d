"""The example for many workers, started by `jaxtribute launch`, and again to go on."""

from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "multi_worker.py"


@pytest.mark.multiprocess
@pytest.mark.slow
def test_two_workers_learn_and_go_on(run_python, tmp_path):
    def train(steps):
        words = ["--steps", steps, "--save-every", 20, "--directory", tmp_path]
        launch = ["-m", "spmd.cli", "launch", "--workers", 2, "--devices-per-worker", 2]
        return run_python(*launch, EXAMPLE, *words).stdout

    first = train(20)
    assert "[worker 0] Step 20, loss: " in first
    assert "[worker 1] Step" not in first
    second = train(60)
    assert "Go on from step 20" in second
    accuracy = float(second.split("accuracy: ")[-1].split()[0])
    assert accuracy > 70  # guessing gives 10
