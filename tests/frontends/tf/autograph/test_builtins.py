"""Python's functions on traced values."""

import itertools

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


def test_the_largest_and_the_smallest() -> None:
    x, y = np.float32(2.0), np.float32(-3.0)
    assert both(lambda a, b: [max(a, b), min(a, b), max(a, 5.0), min([a, b, 0.0])], x, y) == [
        *(2.0, -3.0, 5.0, -3.0)
    ]
    assert both(lambda a: max(a) - min(a), np.array([1.0, 4.0, 2.0], np.float32)) == 3.0
    variables = [tf.Variable(1.0), tf.Variable(2.0)]
    largest = tf.function(lambda: max(variables, key=lambda v: -v.shape.rank) is variables[0])
    assert bool(largest()), "what a key chooses is the object itself"


def test_any_and_all() -> None:
    def run(x):
        return any(x > 2.0), all(v > 0.0 for v in x), any([]), all([True, x[0] > 0.0])

    assert both(run, np.array([1.0, 3.0], np.float32)) == (True, True, False, True)
    assert both(run, np.array([-1.0, 0.0], np.float32)) == (False, False, False, False)


def test_python_values_decide_before_an_endless_iterator_ends() -> None:
    assert both(lambda x: x if any(n > 3 for n in itertools.count()) else -x, 1.0) == 1.0


def test_enumerate_and_zip_nest() -> None:
    def total(a, b):
        found = 0.0
        for i, (x, y) in enumerate(zip(a, b, strict=False)):
            found += float(i) * x * y
        for (i, x), y in zip(enumerate(a, 1), b, strict=False):
            found += float(i) * x * y
        return found

    a, b = np.array([1.0, 2.0, 3.0], np.float32), np.array([4.0, 5.0], np.float32)
    assert both(total, a, b) == 10.0 + 24.0


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
