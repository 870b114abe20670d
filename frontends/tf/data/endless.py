"""Datasets without end: counting, and random numbers."""

from typing import Self, SupportsIndex

import numpy as np

from frontends.tf._typing import DTypeLike
from frontends.tf.data.base import DatasetBase, integer, shuffle_order
from frontends.tf.data.constants import INFINITE_CARDINALITY
from frontends.tf.data.spec import as_dtype
from spmd.input.pipeline import numbers, random_numbers


class Endless(DatasetBase):
    """The methods that make numbers without end."""

    @classmethod
    def counter(
        cls,
        start: SupportsIndex = 0,
        step: SupportsIndex = 1,
        dtype: DTypeLike = np.int64,
        name: str | None = None,
    ) -> Self:
        """Counts without end.

        Args:
            start: The first number.
            step: From one number to the next.
            dtype: The numbers' dtype.

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
        first, every = integer(start, "counter: start"), integer(step, "counter: step")
        kind = as_dtype(dtype)
        return cls(lambda: numbers(first, every, kind, None), INFINITE_CARDINALITY)

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
        order = shuffle_order(seed, bool(rerandomize_each_iteration), "random")
        return cls(lambda: random_numbers(order), INFINITE_CARDINALITY, orders=[order])
