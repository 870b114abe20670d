"""Keras's own kind of data set, where Keras is imported already."""

import itertools
from collections.abc import Iterator

from spmd.input.sources.base import AnySource, BatchesSource, reject_batch_size
from spmd.typing import PyTree


def py_dataset_source(source: AnySource, batch_size: int | None) -> BatchesSource:
    """Reads a `keras.utils.PyDataset`: batches by index, and hooks around an epoch.

    Its `workers` are not used: batches are made one after another, on the thread of the pass.
    `on_epoch_end` is called after a pass that was read to its end.

    Source: `keras.utils.PyDataset`.
    """
    reject_batch_size(batch_size, "A Keras PyDataset")

    def start() -> Iterator[PyTree]:
        source.on_epoch_begin()
        count = source.num_batches
        for index in itertools.count() if count is None else range(count):
            yield source[index]
        source.on_epoch_end()

    return BatchesSource(type(source).__name__, start, lambda: source.num_batches)
