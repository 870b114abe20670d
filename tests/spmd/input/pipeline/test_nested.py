"""Windows and groups of items, and the items of several passes in turns."""

import itertools

import pytest

from spmd.input.pipeline import grouped, interleaved, windows


@pytest.mark.parametrize(
    ("shift", "stride", "drop", "expected"),
    [
        (3, 1, False, [[0, 1, 2], [3, 4, 5], [6]]),
        (2, 1, True, [[0, 1, 2], [2, 3, 4], [4, 5, 6]]),
        (1, 3, True, [[0, 3, 6]]),
        (5, 1, False, [[0, 1, 2], [5, 6]]),
    ],
)
def test_windows(shift, stride, drop, expected):
    assert list(windows(range(7), 3, shift, stride, drop)) == expected


def test_passes_take_turns_in_places():
    passes = ([n] * 3 for n in range(1, 4))
    assert list(interleaved(passes, 2, 2)) == [1, 1, 2, 2, 1, 2, 3, 3, 3]


def test_passes_are_begun_when_they_are_needed():
    begun = []

    def passes():
        for n in itertools.count():
            begun.append(n)
            yield itertools.repeat(n)

    turns = interleaved(passes(), 3, 1)
    assert [next(turns) for _ in range(4)] == [0, 1, 2, 0]
    assert begun == [0, 1, 2]


def test_groups_come_when_they_are_full_and_the_rest_by_key():
    groups = grouped(range(7), lambda n: -(n % 3), lambda key: 2)
    assert list(groups) == [(0, [0, 3]), (-1, [1, 4]), (-2, [2, 5]), (0, [6])]
    assert list(grouped([2, 1], lambda n: n, lambda key: 9)) == [(1, [1]), (2, [2])]
