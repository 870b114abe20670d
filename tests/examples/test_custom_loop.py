"""The TensorFlow script among the examples, run as a person runs it."""

import re
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "custom_loop.py"


@pytest.mark.slow
def test_a_tensorflow_script_learns_on_two_devices(run_python):
    done = run_python("-W", "error::UserWarning", EXAMPLE, "--epochs", "1")
    assert "Devices: 2 x CPU (simulated" in done.stdout
    result = re.search(
        r"Epoch 1, loss: ([\d.]+), accuracy: ([\d.]+), test accuracy: ([\d.]+)", done.stdout
    )
    assert result is not None, done.stdout
    # Guessing gives 10.
    assert float(result[3]) > 80
