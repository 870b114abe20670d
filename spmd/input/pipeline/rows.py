"""The form of elements that can be looked up by number."""

import dataclasses
from collections.abc import Iterator
from typing import final

import numpy as np

from spmd.input.pipeline import chunks
from spmd.input.pipeline.caching import RememberedSource
from spmd.input.pipeline.chunks import Chunk
from spmd.input.pipeline.element import Batch, Element, split
from spmd.input.pipeline.forms import Form
from spmd.input.pipeline.lazy import Lazy
from spmd.input.pipeline.map_function import MapFunction, mask
from spmd.input.pipeline.row_sources import MappedSource, RowSource, row_bytes
from spmd.input.pipeline.shuffling import shuffle_chunks
from spmd.input.pipeline.spec import Specs, batch_spec
from spmd.input.pipeline.steps import Gather
from spmd.input.pipeline.stream import Stream

# How much is looked up at once where rows are wanted one by one.
_BLOCK_BYTES = 4 * 2**20
_BLOCK_ROWS = 1024


@final
@dataclasses.dataclass(frozen=True)
class Rows(Form):
    """Elements that can be looked up by number.

    Attributes:
        open: Starts a pass over their numbers, in chunks.
        source: Where they are looked up.
    """

    source: RowSource
    stable: bool = dataclasses.field(default=True, kw_only=True)

    _cut = staticmethod(chunks.cut)
    _shuffle = staticmethod(shuffle_chunks)

    def spec(self) -> Specs:
        """Returns the specs of a row; see `Form.spec`."""
        return self.source.spec

    def elements(self) -> Iterator[Element]:
        """Starts a pass; see `Form.elements`."""
        for _, batch in self._blocks():
            yield from split(batch)

    def cache(self) -> Form:
        """Remembers the rows; see `Form.cache`."""
        if not self.finite or (self.stable and not self.source.computed):
            return self  # no pass ever ends, or a lookup costs nothing
        nothing = np.empty((0, self.source.columns), np.int64)
        order = Lazy(lambda: np.concatenate([nothing, *self.open()]))
        if not self.source.computed:
            return Rows(lambda: chunks.slices(order()), self.source)
        remembered = RememberedSource(self.source, order)
        return Rows(lambda: chunks.counting(len(order())), remembered)

    def map(self, function: MapFunction, workers: int) -> Form:
        """Applies a function; see `Form.map`."""
        if not function.traces(self.source.spec):
            return self.as_stream().map(function, workers)
        source = MappedSource(self.source, function)
        if not function.is_random:
            return dataclasses.replace(self, source=source)
        return dataclasses.replace(
            self, open=lambda: map(source.numbered, self.open()), source=source, stable=False
        )

    def filter(self, predicate: MapFunction) -> Form:
        """Keeps some of the rows; see `Form.filter`."""
        if not predicate.traces(self.source.spec):
            return self.as_stream().filter(predicate)

        def kept() -> Iterator[Chunk]:
            for chunk, batch in self._blocks(padded=True):
                passed = chunk[mask(predicate, batch, len(chunk))]
                if len(passed):
                    yield passed

        return dataclasses.replace(self, open=kept, stable=self.stable and not predicate.is_random)

    def batch(self, batch_size: int, drop_remainder: bool) -> Form:
        """Stacks rows; see `Form.batch`."""
        rows = batch_size if drop_remainder else None
        return Stream(
            lambda: chunks.regroup(self.open(), batch_size, drop_remainder),
            lambda: batch_spec(self.source.spec, rows),
            Gather(self.source, batch_size, self),
            stable=self.stable,
            finite=self.finite,
        )

    def unbatch(self) -> Form:
        """Takes rows apart; see `Form.unbatch`."""
        return self.as_stream().unbatch()

    def as_stream(self) -> Stream:
        """Returns the same elements, one after the other."""
        return Stream(self.elements, self.spec, stable=self.stable, finite=self.finite)

    def _repeated(self, count: int | None) -> Iterator[Chunk]:
        return chunks.repeat(self.open, count, self.stable)

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
