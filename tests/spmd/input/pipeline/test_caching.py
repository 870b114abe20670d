"""Elements that are kept in memory after the first time."""

import numpy as np
import pytest

from spmd.input.pipeline.caching import RememberedSource, remembered
from spmd.input.pipeline.row_sources import ArraySource


def test_a_stream_is_read_once_if_it_is_read_to_its_end():
    opened = []

    def elements():
        opened.append(True)
        return iter([np.zeros(2), np.ones(2)])

    open_pass = remembered(elements)
    next(open_pass())  # given up: leaves nothing behind
    first = list(open_pass())
    np.testing.assert_equal(list(open_pass()), first)
    assert len(opened) == 2
    with pytest.raises(ValueError, match="read-only"):
        first[0] += 1


class Counting(ArraySource):
    def __init__(self, array):
        super().__init__(array)
        self.asked = []

    def gather(self, chunk, full):
        self.asked += chunk[:, 0].tolist()
        return super().gather(chunk, full)


def test_each_row_is_looked_up_once():
    source = Counting(np.arange(10) * 10)
    order = np.array([3, 1, 2])[:, None]
    remembered = RememberedSource(source, lambda: order)
    wanted = np.array([2, 0, 2])[:, None]
    for _ in range(2):
        assert remembered.gather(wanted, 4).tolist() == [20, 30, 20]
    assert sorted(source.asked) == [2, 3]
    assert remembered.gather(np.array([1])[:, None], 4).tolist() == [10]
    assert remembered.spec == source.spec
