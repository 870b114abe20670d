"""The fit script among the examples, run as a person runs it."""

import re
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "keras_mnist.py"


@pytest.mark.slow
def test_fit_callbacks_and_export(tmp_path, run_python):
    done = run_python(*("-W", "error::UserWarning", EXAMPLE, "--epochs", "2", "--output", tmp_path))
    assert "Devices: 2 x CPU (simulated" in done.stdout
    assert "Learning rate for epoch 2 is 1e-03" in done.stdout
    before, after = re.findall(r"[Ee]val loss: ([\d.]+), eval accuracy: ([\d.]+)", done.stdout)
    assert before == after
    # Guessing gives 0.1.
    assert 0.85 < float(before[1]) < 1
    for folder in ("training_checkpoints", "logs", "saved_model"):
        assert any((tmp_path / folder).iterdir())
