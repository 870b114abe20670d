"""The estimator among the examples, run as a person runs it."""

import re
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "estimator_mnist.py"


@pytest.mark.slow
def test_an_estimator_learns_digits_on_two_devices(tmp_path, run_python):
    done = run_python("-W", "error::UserWarning", EXAMPLE, "--devices", "2", "--output", tmp_path)
    assert "Devices: 2 x CPU (simulated" in done.stdout
    assert re.search(r"Step 50: loss [\d.]+, [\d.]+ steps/s", done.stdout)
    result = re.search(r"Test accuracy after 400 steps: ([\d.]+)%", done.stdout)
    assert result is not None, done.stdout
    assert float(result[1]) >= 96
    assert re.search(r"The first digit is a (\d), .*: it is a \1", done.stdout)
    assert (tmp_path / "checkpoint").exists()
    assert any((tmp_path / "eval").iterdir())
