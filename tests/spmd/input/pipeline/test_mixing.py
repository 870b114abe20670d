"""Elements that come from one of several forms at a time."""

import itertools

import numpy as np
import pytest

from spmd.input.pipeline import ShuffleOrder, array_rows, drawn, mixed


def form(*values):
    return array_rows(np.array(values), len(values))


@pytest.mark.parametrize(
    ("stop_on_empty", "expected"), [(True, [1, 7, 2, 8]), (False, [1, 7, 2, 8, 9])]
)
def test_what_happens_when_a_form_ends(stop_on_empty, expected):
    turns = mixed(
        [form(1, 2), form(7, 8, 9)],
        lambda: itertools.cycle([0, 1]),
        stop_on_empty=stop_on_empty,
        finite=True,
    )
    assert [int(x) for x in turns.elements()] == expected


def test_draws_keep_to_the_weights_and_can_be_repeated():
    def draw():
        numbers = drawn(np.array([1.0, 3.0]), ShuffleOrder((5,), reshuffle=True))
        return list(itertools.islice(numbers, 4000))

    numbers = draw()
    assert 0.7 < np.mean(numbers) < 0.8
    assert numbers == draw()
