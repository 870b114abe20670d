"""Datasets without end: counting, and random numbers."""

import sys
from collections.abc import Iterator
from typing import Any, Self, SupportsIndex

import numpy as np

from frontends.tf.data import chunks
from frontends.tf.data.base import DatasetBase, integer
from frontends.tf.data.constants import INFINITE_CARDINALITY
from frontends.tf.data.forms import Form
from frontends.tf.data.row_sources import RangeSource
from frontends.tf.data.rows import Rows
from frontends.tf.data.shuffling import ShuffleOrder
from frontends.tf.data.spec import TensorSpec, as_dtype
from frontends.tf.data.steps import Ready
from frontends.tf.data.stream import Stream

_DRAWS = 1024


class Endless(DatasetBase):
    """The methods that make numbers without end."""

    @classmethod
    def counter(
        cls,
        start: SupportsIndex = 0,
        step: SupportsIndex = 1,
        dtype: Any = np.int64,
        name: str | None = None,
    ) -> Self:
        """Counts without end.

        Args:
            start: The first number.
            step: From one number to the next.
            dtype: The numbers' dtype.
            name: Ignored.

        Returns:
            A dataset of scalars.

        Raises:
            TypeError: `start` or `step` is not an integer.

        Examples:
            >>> from frontends.tf.data import Dataset
            >>> [int(x) for x in Dataset.counter(2, step=5).take(3)]
            [2, 7, 12]

        Source: ``tf.data.Dataset.counter``.
        """
        source = RangeSource(
            integer(start, "counter: start"), integer(step, "counter: step"), as_dtype(dtype)
        )

        def make_form() -> Form:
            return Rows(source, lambda: chunks.counting(sys.maxsize), finite=False)

        return cls(make_form, INFINITE_CARDINALITY)

    @classmethod
    def random(
        cls,
        seed: SupportsIndex | None = None,
        rerandomize_each_iteration: bool | None = None,
        name: str | None = None,
    ) -> Self:
        """Draws random numbers without end; other ones than TensorFlow's for the same seed.

        Args:
            seed: An integer, or None. With the global seed it decides the numbers, as in `shuffle`.
            rerandomize_each_iteration: Other numbers for every pass; None means False.
            name: Ignored.

        Returns:
            A dataset of int64 scalars from 0 to ``2**32 - 1``.

        Raises:
            TypeError: `seed` is neither an integer nor None.

        Examples:
            >>> from frontends.tf.data import Dataset
            >>> numbers = Dataset.random(seed=4).take(10)
            >>> [int(x) for x in numbers] == [int(x) for x in numbers]
            True

        Source: ``tf.data.Dataset.random``.
        """
        order = ShuffleOrder(seed, bool(rerandomize_each_iteration), "random")

        def open_pass() -> Iterator[Any]:
            generator, _ = order.begin_pass()
            while True:
                yield from generator.integers(2**32, size=_DRAWS)

        def make_form() -> Form:
            spec = TensorSpec((), np.int64)
            return Stream(open_pass, Ready(), lambda: spec, not order.reshuffle, finite=False)

        return cls(make_form, INFINITE_CARDINALITY, orders=[order])
