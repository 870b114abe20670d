"""The form of elements that can be looked up by number."""

import dataclasses
from collections.abc import Callable, Iterator
from typing import Self, final

import numpy as np

from spmd.input.pipeline import chunks
from spmd.input.pipeline import element as elements
from spmd.input.pipeline import spec as specs
from spmd.input.pipeline.caching import RememberedSource
from spmd.input.pipeline.chunks import Chunk
from spmd.input.pipeline.element import Batch, Element
from spmd.input.pipeline.forms import Form, Opener
from spmd.input.pipeline.lazy import Lazy
from spmd.input.pipeline.map_function import MapFunction
from spmd.input.pipeline.predicate import mask
from spmd.input.pipeline.row_sources import MappedSource, RowSource, row_bytes
from spmd.input.pipeline.shuffling import ShuffleOrder, shuffle_chunks
from spmd.input.pipeline.spec import Specs
from spmd.input.pipeline.steps import Gather, Ready
from spmd.input.pipeline.stream import Stream

# How much is looked up at once where rows are wanted one by one.
_BLOCK_BYTES = 4 * 2**20
_BLOCK_ROWS = 1024


@final
@dataclasses.dataclass(frozen=True)
class Rows(Form):
    """Elements that can be looked up by number.

    Attributes:
        source: Where they are looked up.
        open: Starts a pass over their numbers, in chunks.
        stable: Every pass has the same rows in the same order.
        finite: A pass ends.
    """

    source: RowSource
    open: Callable[[], Iterator[Chunk]]
    stable: bool = True
    finite: bool = True

    def spec(self) -> Specs:
        """Returns the specs of a row; see `Form.spec`."""
        return self.source.spec

    def elements(self) -> Iterator[Element]:
        """Starts a pass; see `Form.elements`."""
        for _, batch in self._blocks():
            yield from elements.split(batch)

    def take(self, count: int) -> Self:
        """Keeps the first rows; see `Form.take`."""
        return dataclasses.replace(self, open=lambda: chunks.take(self.open(), count), finite=True)

    def skip(self, count: int) -> Self:
        """Drops the first rows; see `Form.skip`."""
        return dataclasses.replace(self, open=lambda: chunks.skip(self.open(), count))

    def shard(self, num_shards: int, index: int) -> Self:
        """Keeps some of the rows; see `Form.shard`."""
        return dataclasses.replace(self, open=lambda: chunks.shard(self.open(), num_shards, index))

    def repeat(self, count: int | None) -> Self:
        """Makes several passes one; see `Form.repeat`."""
        return dataclasses.replace(
            self,
            open=lambda: chunks.repeat(self.open, count, self.stable),
            finite=self.finite and count is not None,
        )

    def shuffle(self, buffer_size: int, order: ShuffleOrder) -> Self:
        """Changes the order; see `Form.shuffle`."""
        return dataclasses.replace(
            self,
            open=lambda: shuffle_chunks(self.open(), buffer_size, order),
            stable=self.stable and not order.reshuffle,
        )

    def cache(self) -> Form:
        """Remembers the rows; see `Form.cache`."""
        if not self.finite or (self.stable and not self.source.computed):
            return self  # no pass ever ends, or a lookup costs nothing
        order = Lazy(self._whole_pass)
        if not self.source.computed:
            return Rows(self.source, lambda: chunks.slices(order()))
        remembered = RememberedSource(self.source, order)
        return Rows(remembered, lambda: chunks.counting(len(order())))

    def map(self, function: MapFunction, workers: int) -> Form:
        """Applies a function; see `Form.map`."""
        if function.traces(self.source.spec):
            return dataclasses.replace(self, source=MappedSource(self.source, function))
        return self.as_stream().map(function, workers)

    def filter(self, predicate: MapFunction) -> Form:
        """Keeps some of the rows; see `Form.filter`."""
        if not predicate.traces(self.source.spec):
            return self.as_stream().filter(predicate)

        def kept() -> Iterator[Chunk]:
            for chunk, batch in self._blocks(padded=True):
                passed = chunk[mask(predicate, batch, len(chunk))]
                if len(passed):
                    yield passed

        return dataclasses.replace(self, open=kept)

    def batch(self, batch_size: int, drop_remainder: bool) -> Form:
        """Stacks rows; see `Form.batch`."""
        rows = batch_size if drop_remainder else None
        return Stream(
            lambda: chunks.regroup(self.open(), batch_size, drop_remainder),
            Gather(self.source, batch_size, self._reopened),
            lambda: specs.batched(self.source.spec, rows),
            self.stable,
            self.finite,
        )

    def unbatch(self) -> Form:
        """Takes rows apart; see `Form.unbatch`."""
        return self.as_stream().unbatch()

    def as_stream(self) -> Stream:
        """Returns the same elements, one after the other."""
        return Stream(self.elements, Ready(), self.spec, self.stable, self.finite)

    def _reopened(self, opener: Opener, stable: bool, finite: bool) -> "Rows":
        return Rows(self.source, opener, stable, finite)

    def _whole_pass(self) -> Chunk:
        nothing = np.empty((0, self.source.columns), np.int64)
        return np.concatenate([nothing, *self.open()])

    def _blocks(self, padded: bool = False) -> Iterator[tuple[Chunk, Batch]]:
        """Yields pairs of a chunk and its rows, with more rows at the end if `padded`."""
        # Blocks end where chunks end: reading ahead could begin a pass that nobody reads, and the
        # next pass would have another order than it has elsewhere.
        most = min(_BLOCK_ROWS, max(1, _BLOCK_BYTES // max(1, row_bytes(self.source))))
        for chunk in self.open():
            for block in chunks.slices(chunk, most):
                full = min(most, 1 << (len(block) - 1).bit_length())  # few sizes to compile for
                wanted = chunks.pad(block, full) if padded else block
                yield block, self.source.gather(wanted, full)
