"""Methods that select, order and repeat a dataset's elements."""

import sys
from typing import Any, Self, SupportsIndex

from frontends.tf.data import cardinality
from frontends.tf.data.base import (
    DatasetBase,
    check_datasets,
    element_count,
    integer,
    shuffle_order,
)
from frontends.tf.data.constants import UNKNOWN_CARDINALITY
from spmd.input.pipeline import concatenated


class Reordering(DatasetBase):
    """The methods that leave the elements themselves as they are."""

    def shuffle(
        self,
        buffer_size: SupportsIndex,
        seed: SupportsIndex | None = None,
        reshuffle_each_iteration: bool | None = None,
        name: str | None = None,
    ) -> Self:
        """Puts the elements in random order.

        A buffer of `buffer_size` elements is kept full; each output is a random one of it. So the
        element at output position p comes from an input position below ``p + buffer_size``, and
        all orders are equally likely where the buffer holds the whole dataset. In-memory rows are
        shuffled by their numbers: a large buffer costs 8 bytes a row, not the rows.

        The order is the same in every run where `seed` or the global seed is set (see
        :func:`frontends.tf.random.set_seed`), and does not depend on timing.

        Args:
            buffer_size: At least 1, or `UNKNOWN_CARDINALITY` for a buffer of any size.
            seed: An integer, or None.
            reshuffle_each_iteration: Another order for every pass (each ``for`` loop, each round
                of a later `repeat`); None means True.

        Returns:
            A dataset of the same elements.

        Raises:
            TypeError: `buffer_size` or `seed` is not an integer.
            ValueError: `buffer_size` is below 1.

        Examples:
            >>> from frontends.tf.data import Dataset
            >>> numbers = Dataset.range(6).shuffle(6, seed=1)
            >>> sorted(int(x) for x in numbers)
            [0, 1, 2, 3, 4, 5]

        Source: ``tf.data.Dataset.shuffle``.
        """
        if buffer_size == UNKNOWN_CARDINALITY:
            buffer_size = sys.maxsize
        size = min(integer(buffer_size, "shuffle: buffer_size", minimum=1), sys.maxsize)
        order = shuffle_order(seed, reshuffle_each_iteration in (None, True))
        return self._derive(lambda form: form.shuffle(size, order), self._cardinality, order)

    def repeat(self, count: SupportsIndex | None = None, name: str | None = None) -> Self:
        """Reads the dataset several times over.

        Args:
            count: How many times; None or -1 for without end.

        Returns:
            A dataset of `count` times as many elements.

        Raises:
            TypeError: `count` is neither an integer nor None.

        Examples:
            >>> from frontends.tf.data import Dataset
            >>> [int(x) for x in Dataset.range(2).repeat(2)]
            [0, 1, 0, 1]

        Source: ``tf.data.Dataset.repeat``.
        """
        times = None if count is None else element_count(count, "repeat: count")
        return self._derive(
            lambda form: form.repeat(times), cardinality.repeat(self._cardinality, times)
        )

    def take(self, count: SupportsIndex, name: str | None = None) -> Self:
        """Keeps the first elements.

        Args:
            count: How many; -1 for all.

        Returns:
            A dataset of at most `count` elements.

        Raises:
            TypeError: `count` is not an integer.

        Examples:
            >>> from frontends.tf.data import Dataset
            >>> [int(x) for x in Dataset.range(9).take(2)]
            [0, 1]

        Source: ``tf.data.Dataset.take``.
        """
        number = element_count(count, "take: count")
        return self._derive(
            lambda form: form if number is None else form.take(number),
            cardinality.take(self._cardinality, number),
        )

    def skip(self, count: SupportsIndex, name: str | None = None) -> Self:
        """Drops the first elements.

        Args:
            count: How many; -1 for all.

        Returns:
            A dataset of the others.

        Raises:
            TypeError: `count` is not an integer.

        Examples:
            >>> from frontends.tf.data import Dataset
            >>> [int(x) for x in Dataset.range(5).skip(3)]
            [3, 4]

        Source: ``tf.data.Dataset.skip``.
        """
        number = element_count(count, "skip: count")
        return self._derive(
            lambda form: form.take(0) if number is None else form.skip(number),
            cardinality.skip(self._cardinality, number),
        )

    def shard(
        self, num_shards: SupportsIndex, index: SupportsIndex, name: str | None = None
    ) -> Self:
        """Keeps every `num_shards`-th element, from element `index` on.

        Shard before a `shuffle` without a seed: after it, each process would shard another order.

        Args:
            num_shards: At least 1.
            index: From 0 to ``num_shards - 1``.

        Returns:
            A dataset of this shard's elements.

        Raises:
            TypeError: An argument is not an integer.
            ValueError: An argument is out of range.

        Examples:
            >>> from frontends.tf.data import Dataset
            >>> [int(x) for x in Dataset.range(7).shard(3, 1)]
            [1, 4]

        Source: ``tf.data.Dataset.shard``.
        """
        shards = integer(num_shards, "shard: num_shards", minimum=1)
        which = integer(index, "shard: index")
        if not 0 <= which < shards:
            raise ValueError(
                f"shard: index must be from 0 to num_shards - 1 = {shards - 1}, got {which}.\n"
                f"Fix: shard({shards}, {which % shards})"
            )
        return self._derive(
            lambda form: form.shard(shards, which),
            cardinality.shard(self._cardinality, shards, which),
        )

    def concatenate(self, dataset: DatasetBase, name: str | None = None) -> Self:
        """Appends the elements of another dataset.

        Args:
            dataset: A dataset of elements of the same structure and dtypes.

        Returns:
            A dataset of both datasets' elements. Reading it raises TypeError where they differ in
            structure or dtypes.

        Raises:
            TypeError: `dataset` is not a dataset.

        Examples:
            >>> from frontends.tf.data import Dataset
            >>> [int(x) for x in Dataset.range(2).concatenate(Dataset.range(7, 9))]
            [0, 1, 7, 8]

        Source: ``tf.data.Dataset.concatenate``.
        """
        check_datasets([dataset], "concatenate")
        return self._combined(
            [self, dataset],
            lambda forms: concatenated(*forms),
            cardinality.concatenate(self._cardinality, dataset._cardinality),
        )

    def cache(self, filename: str = "", name: str | None = None) -> Self:
        """Keeps the elements of the first pass in memory for the later ones.

        Their order is kept too: shuffle after it, not before. What a stream's cache gives out is
        locked against writing.

        Args:
            filename: Keep them in files instead, in the folder ``filename + ".cache"``, for later runs too. Delete it when the
                dataset has changed.

        Returns:
            A dataset of the same elements.

        Examples:
            >>> from frontends.tf.data import Dataset
            >>> [int(x) for x in Dataset.range(3).map(lambda x: x * x).cache()]
            [0, 1, 4]

        Source: ``tf.data.Dataset.cache``.
        """
        if filename:
            dataset: Any = self
            return dataset.snapshot(f"{filename}.cache", compression=None)
        return self._derive(lambda form: form.cache(), self._cardinality)

    def prefetch(self, buffer_size: SupportsIndex, name: str | None = None) -> Self:
        """Returns the same dataset: the engine reads ahead of the training step by itself.

        Args:
            buffer_size: Accepted; not used.

        Returns:
            A dataset of the same elements, in the same order.

        Raises:
            TypeError: `buffer_size` is not an integer.

        Examples:
            >>> from frontends.tf import data
            >>> len(data.Dataset.range(3).prefetch(data.AUTOTUNE))
            3

        Source: ``tf.data.Dataset.prefetch``.
        """
        integer(buffer_size, "prefetch: buffer_size")
        return self._derive(lambda form: form, self._cardinality)
