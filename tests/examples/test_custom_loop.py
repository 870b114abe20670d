"""The TensorFlow script among the examples, run as a person runs it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_a_tensorflow_script_learns_on_two_devices(fresh_environment):
    script = ROOT / "examples" / "custom_loop.py"
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", str(script), "--epochs", "1"],
        capture_output=True,
        text=True,
        env=fresh_environment,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Number of devices: 2" in done.stdout
    result = re.search(
        r"Epoch 1, loss: ([\d.]+), accuracy: ([\d.]+), test accuracy: ([\d.]+)", done.stdout
    )
    assert result is not None, done.stdout
    # Guessing gives 10.
    assert float(result[3]) > 80
