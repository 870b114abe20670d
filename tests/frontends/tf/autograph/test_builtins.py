"""Python's functions on traced values."""

import numpy as np
import pytest

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


def test_zip_may_insist_on_equal_lengths() -> None:
    @tf.function
    def run(x, y):
        total = 0.0
        for a, b in zip(x, y, strict=True):
            total += a * b
        return total

    assert float(run(tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0]))) == 11.0
    with pytest.raises(ValueError, match=r"zip\(strict=True\) got arrays with 2, 1 rows"):
        run(tf.constant([1.0, 2.0]), tf.constant([3.0]))
