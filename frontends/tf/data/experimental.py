"""`tf.data.experimental`: the parts of it that distribution scripts use.

Source: ``tf.data.experimental``.
"""

import dataclasses
import operator
from collections.abc import Callable, Iterator
from typing import Any, SupportsIndex

import numpy as np

from frontends.tf.data.constants import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from frontends.tf.data.dataset import Dataset
from frontends.tf.data.options import (
    AutoShardPolicy,
    AutotuneOptions,
    DistributeOptions,
    OptimizationOptions,
    ThreadingOptions,
)
from frontends.tf.data.rows import Rows
from frontends.tf.data.stream import Stream

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "AutoShardPolicy",
    "AutotuneOptions",
    "DistributeOptions",
    "OptimizationOptions",
    "ThreadingOptions",
    "assert_cardinality",
    "cardinality",
]


def cardinality(dataset: Dataset) -> np.int64:
    """Returns the number of elements of a dataset; see `Dataset.cardinality`.

    Args:
        dataset: The dataset.

    Returns:
        The count, `INFINITE_CARDINALITY` or `UNKNOWN_CARDINALITY`.

    Examples:
        >>> from frontends.tf import data
        >>> print(data.experimental.cardinality(data.Dataset.range(10).batch(4)))
        3

    Source: ``tf.data.experimental.cardinality``.
    """
    return dataset.cardinality()


def assert_cardinality(expected_cardinality: SupportsIndex) -> Callable[[Dataset], Dataset]:
    """Declares how many elements a dataset has, where that cannot be known without reading it.

    Args:
        expected_cardinality: The count, or `INFINITE_CARDINALITY`.

    Returns:
        A function for `Dataset.apply`. The dataset that it returns raises ValueError when a pass
        turns out to have more or fewer elements.

    Raises:
        TypeError: `expected_cardinality` is not an integer.

    Examples:
        >>> from frontends.tf import data
        >>> evens = data.Dataset.range(10).filter(lambda x: x % 2 == 0)
        >>> len(evens.apply(data.experimental.assert_cardinality(5)))
        5

    Source: ``tf.data.experimental.assert_cardinality``.
    """
    expected = operator.index(expected_cardinality)
    return lambda dataset: dataset._derive(lambda form: _counted(form, expected), expected)


def _counted(form: Rows | Stream, expected: int) -> Rows | Stream:
    size = len if isinstance(form, Rows) else lambda item: 1

    def open_pass() -> Iterator[Any]:
        found = 0
        for items in form.open():
            found += size(items)
            if found > expected >= 0:
                break
            yield items
        else:
            if found == expected:
                return
        raise ValueError(
            f"assert_cardinality: expected {'no end' if expected < 0 else expected} and the dataset "
            f"has {'more' if found > expected >= 0 else found} elements.\n"
            "Fix: the number, or take(number) before it."
        )

    return dataclasses.replace(form, open=open_pass, finite=expected >= 0)
