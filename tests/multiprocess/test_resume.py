"""Training goes on with other numbers of processes and devices: with the batches that come next, all of them."""

from pathlib import Path

import pytest

pytestmark = [pytest.mark.multiprocess, pytest.mark.slow]

PROGRAM = Path(__file__).parent / "programs" / "count.py"
SHAPES = [(2, 2, 2), (1, 4, 1), (3, 1, 2), (1, 1, 1), (2, 1, 9)]


def test_an_epoch_over_changing_clusters(run_cluster, tmp_path):
    """Workers, devices of each, and steps that they train; the last ones train to the end of the epoch."""
    batches = []
    for workers, devices, steps in SHAPES:
        tasks = run_cluster(PROGRAM, tmp_path / "changing", steps, workers=workers, devices=devices)
        assert len({tuple(task.lines) for task in tasks}) == 1
        batches += tasks[0].lines[:-1]
    (alone,) = run_cluster(PROGRAM, tmp_path / "alone", 100, workers=1)
    assert batches == alone.lines[:-1]
    seen = [int(row) for batch in batches for row in batch.split()[1:]]
    assert sorted(seen) == list(range(100))
    assert float(tasks[0].lines[-1].split()[1]) == pytest.approx(
        float(alone.lines[-1].split()[1]), rel=1e-5
    )
