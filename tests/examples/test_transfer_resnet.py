"""Transfer learning, run as a person runs it: what is frozen stays, and the model learns."""

import re
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "transfer_resnet.py"


@pytest.mark.slow
def test_frozen_layers_stay_and_accuracy_rises(run_python):
    done = run_python(
        *("-W", "error::UserWarning", EXAMPLE),
        *("--epochs", "3", "--images", "128", "--size", "32"),
    )
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
