"""The main example, run as a person runs it."""

import re
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "mnist.py"
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.mark.slow
def test_two_devices_one_epoch(tmp_path, run_python):
    done = run_python(
        *(EXAMPLE, "--devices", "2", "--epochs", "1", "--output", tmp_path / "new"), cwd=tmp_path
    )
    assert "Devices: 2 x CPU (simulated" in done.stdout
    assert "the step was compiled once" in done.stdout
    accuracy = re.search(r"Test accuracy: (\d\.\d{4}) on ([\d,]+) digits", done.stdout)
    assert accuracy is not None, done.stdout
    # Guessing gives 0.1; one epoch over 6,000 digits, moved about, gives 0.85 and more.
    assert 0.8 < float(accuracy[1]) <= 1
    assert accuracy[2] == "1,000"
    picture = (tmp_path / "new" / "mnist.png").read_bytes()
    assert picture.startswith(PNG)
    assert len(picture) > 20_000
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["mnist.png"]
