"""Rows of comparisons."""

from pathlib import Path

import pytest

from tests.benchmarks import compare
from tests.benchmarks.compare import Figures, _better, _seconds_to_start
from tests.benchmarks.turns import Command
from tests.benchmarks.workloads import KERAS_3, OURS, TENSORFLOW

COMMANDS = {name: [Command([name], {"KEPT": "1"})] for name in (OURS, TENSORFLOW, KERAS_3)}


@pytest.fixture
def starts(monkeypatch):
    """Programs that start at once, and say how long that took; the names of those that did, in order."""
    seconds = {
        # Ours starts twice a round.
        OURS: iter([9.0, 1.0, 3.0, 8.0, 4.0, 2.0]),
        TENSORFLOW: iter([5.0, 7.0, 6.0]),
        KERAS_3: iter([2.0, 9.0, 8.0]),
    }
    names, folders = [], set()

    def start(command):
        (name,) = command.arguments
        assert command.environment["KEPT"] == "1"
        cache = Path(command.environment["XDG_CACHE_HOME"])
        is_second = name == OURS and names[-1:] == [OURS] and cache in folders
        assert [path.name for path in cache.iterdir()] == (["program"] if is_second else [])
        (cache / "program").touch()
        folders.add(cache)
        names.append(name)
        return next(seconds[name])

    monkeypatch.setattr(compare, "seconds_to_first_step", start)
    return names


def test_starts_are_medians_of_rounds_and_the_first_ones_find_an_empty_cache(starts):
    found = _seconds_to_start(COMMANDS)
    assert found == {OURS: (4.0, 2.0), TENSORFLOW: (6.0, 6.0), KERAS_3: (8.0, 8.0)}


def test_every_program_starts_in_every_round_and_ours_twice_in_a_row(starts):
    _seconds_to_start(COMMANDS)
    rounds = [starts[i : i + 4] for i in range(0, 12, 4)]
    assert [sorted(names) for names in rounds] == [sorted([*COMMANDS, OURS])] * 3
    assert all(names[names.index(OURS) + 1] == OURS for names in rounds)


def test_of_two_ways_to_run_a_peer_the_better_one_counts():
    times = {OURS: [1.0, 1.0], TENSORFLOW: [3.0, 3.0], KERAS_3: [2.0, 2.0]}
    figures = {TENSORFLOW: Figures(4.0, 4.0, 900), KERAS_3: Figures(9.0, 9.0, 800)}
    assert _better(times, figures) == (
        {OURS: [1.0, 1.0], TENSORFLOW: [2.0, 2.0]},
        {TENSORFLOW: Figures(4.0, 4.0, 800)},
    )
