"""Rows of comparisons."""

from tests.benchmarks.compare import Figures, _better
from tests.benchmarks.workloads import KERAS_3, OURS, TENSORFLOW


def test_of_two_ways_to_run_a_peer_the_better_one_counts():
    times = {OURS: [1.0, 1.0], TENSORFLOW: [3.0, 3.0], KERAS_3: [2.0, 2.0]}
    figures = {TENSORFLOW: Figures(4.0, 4.0, 900), KERAS_3: Figures(9.0, 9.0, 800)}
    assert _better(times, figures) == (
        {OURS: [1.0, 1.0], TENSORFLOW: [2.0, 2.0]},
        {TENSORFLOW: Figures(4.0, 4.0, 800)},
    )
