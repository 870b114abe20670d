"""The two examples in plain JAX, by hand and on the engine, run as a person runs them."""

import re
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.mark.slow
def test_the_engine_trains_as_the_loop_by_hand(run_python):
    losses = []
    for name in ("jax_by_hand.py", "jax_on_spmd.py"):
        done = run_python(EXAMPLES / name, "--devices", 2, "--epochs", 2)
        losses.append([float(loss) for loss in re.findall(r"loss ([\d.]+)", done.stdout)])
    by_hand, on_spmd = losses
    assert len(by_hand) == 2
    assert by_hand[1] < by_hand[0] < 1  # guessing gives 2.3
    assert all(abs(a - b) < 1e-3 for a, b in zip(by_hand, on_spmd, strict=True)), losses
