"""Keras's own kind of data set, where Keras is imported already."""

import itertools
from collections.abc import Iterator
from typing import final

from spmd.input.sources.base import AnySource, Source, reject_batch_size
from spmd.typing import PyTree


@final
class PyDatasetSource(Source):
    """A `keras.utils.PyDataset`: batches by index, and hooks around an epoch.

    Its `workers` are not used: batches are made one after another, on the thread of the pass.
    `on_epoch_end` is called after a pass that was read to its end.

    Source: `keras.utils.PyDataset`.
    """

    def __init__(self, source: AnySource, batch_size: int | None) -> None:
        """Wraps a data set of batches."""
        reject_batch_size(batch_size, "A Keras PyDataset")
        self._source = source

    def num_batches(self, drop_remainder: bool) -> int | None:
        """Counts the batches of a pass; None if endless."""
        return None if drop_remainder else self._source.num_batches

    def batches(self) -> Iterator[PyTree]:
        """Starts a pass."""
        self._source.on_epoch_begin()
        count = self._source.num_batches
        for index in itertools.count() if count is None else range(count):
            yield self._source[index]
        self._source.on_epoch_end()

    def __repr__(self) -> str:
        return type(self._source).__name__
