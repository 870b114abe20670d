"""Rows of several arrays."""

import numpy as np

from frontends.tf.autograph.rows import Rows
from tests.frontends.tf.autograph.helpers import both


def test_rows_are_a_sequence_of_tuples() -> None:
    rows = Rows((np.arange(3), (np.arange(3) * 2, np.ones((3, 2)))))
    assert len(rows) == len(list(rows)) == 3
    number, (double, ones) = rows[2]
    assert (number, double, ones.tolist()) == (2, 4, [1.0, 1.0])
    assert [number.tolist() for number, _ in [rows[1:]]] == [[1, 2]]


def test_what_zip_makes_can_be_gone_over_in_python() -> None:
    def pairs(a, b):
        return [x * y for x, y in zip(a, b, strict=False)]

    assert both(pairs, np.arange(3.0), np.arange(3.0)) == [0.0, 1.0, 4.0]
