"""The comparison of three ways to train, run as a person runs it, on few and small drawings."""

import re
from pathlib import Path

import pytest

from conftest import COMPILE_FAST

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "cats_vs_dogs.py"
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.mark.slow
def test_three_ways_in_a_table_and_a_chart(tmp_path, run_python):
    done = run_python(
        *(EXAMPLE, "--generated", "--output", tmp_path),
        *("--epochs", "1", "--images", "36", "--size", "32", "--batch-size", "8"),
        environment={"XLA_FLAGS": COMPILE_FAST},  # compiling is what takes long
    )
    assert "36 drawings, made here, scaled to 32 x 32" in done.stdout
    rows = [
        [cell.strip() for cell in line.strip("│").split("│")]
        for line in done.stdout.splitlines()
        if line.startswith("│")
    ]
    ways = ["no strategy", "2 devices, same batch", "2 devices, 2 x batch"]
    assert [row[0] for row in rows] == ways
    assert [row[1] for row in rows] == ["8", "8", "16"]
    assert all(re.fullmatch(r"[\d.]+ x", row[5]) for row in rows)
    picture = (tmp_path / "cats_vs_dogs.png").read_bytes()
    assert picture.startswith(PNG)
    assert len(picture) > 10_000


@pytest.mark.slow
def test_one_device_is_refused(run_python):
    done = run_python(EXAMPLE, "--devices", "1", status=2)
    assert "--devices must be 2 or more" in done.stderr
