"""Classes that come as often as wanted."""

from collections import Counter

import numpy as np
import pytest

from spmd.input.pipeline import ShuffleOrder, array_rows, resampled


def counts(target, initial, of=4000):
    rows = array_rows(np.arange(of), of)
    form = resampled(
        rows, lambda x: int(x % 4 == 0), np.array(target), initial, ShuffleOrder((1,), True)
    )
    pairs = list(form.elements())
    assert all(int(kind) == int(value % 4 == 0) for kind, value in pairs)
    return Counter(int(kind) for kind, _ in pairs)


@pytest.mark.parametrize("initial", [None, np.array([0.75, 0.25])])
def test_the_rarer_class_is_kept_whole(initial):
    found = counts([0.5, 0.5], initial)
    assert found[1] >= 990
    assert 850 < found[0] < 1150


def test_a_class_that_is_not_wanted():
    assert counts([0.0, 1.0], np.array([0.75, 0.25])) == {1: 1000}


def test_passes_differ_and_runs_do_not():
    rows = array_rows(np.arange(100), 100)

    def passes():
        form = resampled(
            rows, lambda x: int(x) % 2, np.array([0.2, 0.8]), None, ShuffleOrder((1,), True)
        )
        return [[int(x) for _, x in form.elements()] for _ in range(2)]

    first, second = passes()
    assert first != second
    assert passes() == [first, second]
