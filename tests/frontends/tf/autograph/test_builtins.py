"""Python's functions on traced values."""

import numpy as np

from frontends import tf
from tests.frontends.tf.autograph.helpers import both


def test_numbers() -> None:
    assert both(lambda x: int(x) + 1, 2.7) == 3
    assert both(lambda x: float(x) / 2, 3) == 1.5
    assert both(lambda x: len(x) + abs(x[0]), np.array([-2, 1], np.float32)) == 4


def test_sequences_of_python_stay_pythons() -> None:
    def run(x):
        found = x
        for i, (a, b) in enumerate(zip([1, 2], (3, 4), strict=True), 10):
            found += i * a * b
        return found + sum(range(3))

    assert both(run, 1.0) == 122


def test_lists_append_in_place() -> None:
    def run(x):
        rows, same = [], None
        same = rows
        rows.append(x)
        return len(same)

    assert int(tf.function(run)(tf.constant(1.0))) == 1
