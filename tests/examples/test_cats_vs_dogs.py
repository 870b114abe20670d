"""The comparison of three ways to train, run as a person runs it, on few and small drawings."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.mark.slow
def test_three_ways_in_a_table_and_a_chart(tmp_path, fresh_environment):
    done = subprocess.run(
        [
            *(sys.executable, str(ROOT / "examples" / "cats_vs_dogs.py"), "--generated"),
            *("--epochs", "1", "--images", "36", "--size", "32", "--batch-size", "8"),
            *("--output", str(tmp_path)),
        ],
        capture_output=True,
        text=True,
        env=fresh_environment,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr
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


def test_one_device_is_refused(fresh_environment):
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "cats_vs_dogs.py"), "--devices", "1"],
        capture_output=True,
        text=True,
        env=fresh_environment,
        check=False,
    )
    assert done.returncode == 2
    assert "--devices must be 2 or more" in done.stderr
