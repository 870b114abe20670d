"""Batches of elements that differ in size, and batches of another size."""

from collections.abc import Sequence
from typing import Any, Self, SupportsIndex

from frontends.tf._typing import Nested
from frontends.tf.data.base import DatasetBase, integer
from frontends.tf.data.cardinality import batch as batch_count
from frontends.tf.data.cardinality import unbatch as row_count
from spmd.input.pipeline import Padding, padded, rebatched


class Batching(DatasetBase):
    """The methods that make batches in other ways than `batch`."""

    def padded_batch(
        self,
        batch_size: SupportsIndex,
        padded_shapes: Nested = None,
        padding_values: Nested = None,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Self:
        """Stacks elements whose components differ in size, padded at their ends.

        Args:
            batch_size: At least 1.
            padded_shapes: A shape for each component, in the structure of an element. None or -1 in a
                shape stands for the largest size in the batch. None altogether pads every axis so.
            padding_values: A scalar for each component, in the structure of an element, or one scalar
                for all; None stands for zero, or empty text.
            drop_remainder: Drop a last batch of fewer elements.

        Returns:
            A dataset of batches. Reading it raises ValueError where a component is larger than its
            padded shape or has other axes, and TypeError where structures or dtypes do not fit.

        Raises:
            TypeError: `batch_size` is not an integer.
            ValueError: `batch_size` is below 1.

        Examples:
            >>> from frontends.tf.data import Dataset
            >>> import numpy as np
            >>> counts = Dataset.range(1, 5).map(lambda x: np.full(int(x), x))
            >>> for batch in counts.padded_batch(2):
            ...     print(batch.tolist())
            [[1, 0], [2, 2]]
            [[3, 3, 3, 0], [4, 4, 4, 4]]

        Source: ``tf.data.Dataset.padded_batch``.
        """
        size = integer(batch_size, "padded_batch: batch_size", minimum=1)
        drop = bool(drop_remainder)
        padding = Padding(padded_shapes, padding_values)

        return self._rebatched(
            lambda form: padded(form, size, drop, padding),
            batch_count(self._cardinality, size, drop),
            size,
        )

    def rebatch(
        self,
        batch_size: SupportsIndex | Sequence[SupportsIndex],
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Self:
        """Makes batches of another size out of batches.

        Args:
            batch_size: The new size, or several, which take turns.
            drop_remainder: Drop a last batch of fewer rows.

        Returns:
            A dataset of unknown cardinality, unless it is endless.

        Raises:
            TypeError: A size is not an integer.
            ValueError: A size is below 1, or there is none.

        Examples:
            >>> from frontends.tf.data import Dataset
            >>> [x.tolist() for x in Dataset.range(6).batch(2).rebatch(3)]
            [[0, 1, 2], [3, 4, 5]]
            >>> [x.tolist() for x in Dataset.range(6).batch(4).rebatch([2, 1])]
            [[0, 1], [2], [3, 4], [5]]

        Source: ``tf.data.Dataset.rebatch``.
        """
        given: Any = batch_size
        sizes = [
            integer(size, "rebatch: batch_size", minimum=1)
            for size in (given if hasattr(given, "__len__") else [given])
        ]
        if not sizes:
            raise ValueError("rebatch: expected at least one batch size.\nFix: rebatch(batch_size)")
        drop = bool(drop_remainder)

        return self._rebatched(
            lambda form: rebatched(form, sizes, drop),
            row_count(self._cardinality),
            sizes[0] if len(sizes) == 1 else None,
        )
