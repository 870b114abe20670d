"""Transfer learning, run as a person runs it: what is frozen stays, and the model learns."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_frozen_layers_stay_and_accuracy_rises(fresh_environment):
    script = ROOT / "examples" / "transfer_resnet.py"
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", str(script), "--epochs", "3"],
        capture_output=True,
        text=True,
        env=fresh_environment,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    frozen, tuned = re.findall(r"Layers of the base that changed: (.*)", done.stdout)
    assert frozen == "none"
    # The last ten layers are these and activations, which have no weights.
    assert tuned == ", ".join(
        f"conv5_block3_{number}_{kind}" for number in (1, 2, 3) for kind in ("conv", "bn")
    )
    first, last = re.search(
        r"Training accuracy: ([\d.]+) in the first epoch, ([\d.]+) in the last", done.stdout
    ).groups()
    assert float(last) > max(0.75, float(first))
