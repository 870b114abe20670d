"""Grain's pipelines."""

import sys
from collections.abc import Iterator
from typing import final

from spmd.input.sources.base import AnySource, Source, count_batches, imported
from spmd.input.sources.stacking import stack_in_batches
from spmd.typing import PyTree


@final
class GrainSource(Source):
    """A Grain `MapDataset`, `IterDataset` or `DataLoader`, of batches or of single rows.

    A pass is what Grain makes of one: a shuffle without `repeat` has the same order every time.

    Source: https://google-grain.readthedocs.io
    """

    def __init__(self, source: AnySource, batch_size: int | None) -> None:
        """Wraps a pipeline; one of batches comes without a batch size."""
        self._source = source
        self._batch_size = self.full_batch_rows = batch_size

    def num_batches(self, drop_remainder: bool) -> int | None:
        """Counts the batches of a pass, if Grain knows."""
        count = _count_elements(self._source)
        if count is None or self._batch_size is None:
            return None if drop_remainder else count
        return count_batches(count, self._batch_size, drop_remainder)

    def batches(self) -> Iterator[PyTree]:
        """Starts a pass."""
        if self._batch_size is None:
            return iter(self._source)
        return stack_in_batches(self._source, self._batch_size)

    def __repr__(self) -> str:
        return f"grain.{type(self._source).__name__}"


def _count_elements(dataset: AnySource) -> int | None:
    if not isinstance(dataset, imported("grain", "MapDataset")):
        return None
    nodes = [dataset]
    for node in nodes:
        # These two count what may be dropped later; an endless dataset counts to the largest number.
        if type(node).__name__ in ("FilterMapDataset", "FlatMapMapDataset"):
            return None
        if len(node) >= sys.maxsize:
            return None
        nodes.extend(node.parents)
    return len(dataset)
