"""The fit script among the examples, run as a person runs it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_fit_callbacks_and_export(tmp_path, fresh_environment):
    script = ROOT / "examples" / "keras_mnist.py"
    done = subprocess.run(
        [
            *(sys.executable, "-W", "error::UserWarning", str(script)),
            *("--epochs", "2", "--output", str(tmp_path)),
        ],
        capture_output=True,
        text=True,
        env=fresh_environment,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Number of devices: 2" in done.stdout
    assert "Learning rate for epoch 2 is 1e-03" in done.stdout
    before, after = re.findall(r"[Ee]val loss: ([\d.]+), eval accuracy: ([\d.]+)", done.stdout)
    assert before == after
    # Guessing gives 0.1.
    assert 0.85 < float(before[1]) < 1
    for folder in ("training_checkpoints", "logs", "saved_model"):
        assert any((tmp_path / folder).iterdir())
