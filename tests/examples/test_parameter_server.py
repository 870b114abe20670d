"""The recommender on parameter servers, run as a person runs it."""

import re
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "parameter_server.py"


@pytest.mark.slow
def test_a_recommender_learns_on_servers_in_one_process(run_python):
    done = run_python(EXAMPLE, "--epochs", "3")
    assert done.stdout.startswith("2 workers, 2 parameter servers, 28 MB of variables\n")
    losses = [float(one) for one in re.findall(r"Epoch \d, loss: ([\d.]+)", done.stdout)]
    assert losses == sorted(losses, reverse=True)
    loss, best, auc = re.search(
        r"loss ([\d.]+) \(best possible ([\d.]+), by chance 0.6931\), AUC ([\d.]+)", done.stdout
    ).groups()
    # Guessing gives 0.6931 and 0.5.
    assert float(best) < float(loss) < 0.55
    assert float(auc) > 0.75
