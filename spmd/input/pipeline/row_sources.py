"""Row sources: where rows are looked up by number, many in one call."""

import abc
import math
from collections.abc import Sequence
from typing import final

import jax
import numpy as np

from spmd.input.pipeline import chunks
from spmd.input.pipeline.chunks import Chunk
from spmd.input.pipeline.element import Batch, first_rows
from spmd.input.pipeline.map_function import MapFunction
from spmd.input.pipeline.spec import ArraySpec, Specs
from spmd.typing import PyTree, Structure


class RowSource(abc.ABC):
    """Rows that can be looked up in any order.

    Attributes:
        columns: How many columns of a chunk it reads.
        spec: The specs of a row; every size is known.
        computed: Looking a row up calls a map function.
    """

    columns: int = 1
    spec: Specs
    computed: bool = False

    @abc.abstractmethod
    def gather(self, chunk: Chunk, full: int) -> Batch:
        """Looks up rows.

        Args:
            chunk: Which rows.
            full: The number of rows that calls usually ask for, at least ``len(chunk)``. Shorter
                chunks are padded to it where a compiled function is involved, so that it is
                compiled once.

        Returns:
            A batch of ``len(chunk)`` rows, which nobody else holds.
        """


@final
class ArraySource(RowSource):
    """The rows of arrays in memory.

    Args:
        arrays: A structure of arrays of shape ``[rows, ...]``. They are referred to, not copied.
    """

    def __init__(self, arrays: PyTree) -> None:
        self._leaves, self._structure = jax.tree.flatten(arrays)
        specs = [ArraySpec(leaf.shape[1:], leaf.dtype) for leaf in self._leaves]
        self.spec = jax.tree.unflatten(self._structure, specs)

    def gather(self, chunk: Chunk, full: int) -> Batch:
        """Looks up rows; see `RowSource.gather`."""
        numbers = chunk[:, 0]
        rows = [leaf.take(numbers, axis=0) for leaf in self._leaves]
        return jax.tree.unflatten(self._structure, rows)


@final
class RangeSource(RowSource):
    """The numbers ``start + step * row``.

    Args:
        start: The number of row 0.
        step: From one row to the next.
        dtype: The numbers' dtype.
    """

    def __init__(self, start: int, step: int, dtype: np.dtype) -> None:
        self._start, self._step = start, step
        self.spec = ArraySpec((), dtype)

    def gather(self, chunk: Chunk, full: int) -> Batch:
        """Looks up rows; see `RowSource.gather`."""
        return (self._start + self._step * chunk[:, 0]).astype(self.spec.dtype)


@final
class ZipSource(RowSource):
    """The rows of several sources side by side, each by columns of its own.

    Args:
        structure: The structure of a row, with a source at each leaf.
        sources: The sources, in the order of the leaves.
    """

    def __init__(self, structure: Structure, sources: Sequence[RowSource]) -> None:
        self._structure, self._sources = structure, sources
        self._ends = np.cumsum([source.columns for source in sources])
        self.columns = int(self._ends[-1])
        self.spec = jax.tree.unflatten(structure, [source.spec for source in sources])
        self.computed = any(source.computed for source in sources)

    def gather(self, chunk: Chunk, full: int) -> Batch:
        """Looks up rows; see `RowSource.gather`."""
        parts = np.split(chunk, self._ends[:-1], axis=1)
        gathered = [
            source.gather(part, full) for source, part in zip(self._sources, parts, strict=True)
        ]
        return jax.tree.unflatten(self._structure, gathered)


@final
class ConcatenatedSource(RowSource):
    """The rows of two sources of equal spec. Column 0 says which one, the others are its columns.

    Args:
        first: The source for 0.
        second: The source for 1.
    """

    def __init__(self, first: RowSource, second: RowSource) -> None:
        self._sources = (first, second)
        self.columns = 1 + max(first.columns, second.columns)
        self.spec = first.spec
        self.computed = first.computed or second.computed

    def gather(self, chunk: Chunk, full: int) -> Batch:
        """Looks up rows; see `RowSource.gather`."""
        masks = [chunk[:, 0] == which for which in (0, 1)]
        parts = [
            source.gather(chunk[mask, 1 : 1 + source.columns], full)
            for source, mask in zip(self._sources, masks, strict=True)
            if mask.any()
        ]
        if len(parts) == 1:
            return parts[0]

        def merge(first: np.ndarray, second: np.ndarray) -> np.ndarray:
            merged = np.empty((len(chunk), *first.shape[1:]), first.dtype)
            merged[masks[0]], merged[masks[1]] = first, second
            return merged

        return jax.tree.map(merge, *parts)

    def tag(self, chunk: Chunk, which: int) -> Chunk:
        """Returns the chunk of this source for a chunk of its source number `which`."""
        tagged = np.zeros((len(chunk), self.columns), np.int64)
        tagged[:, 0] = which
        tagged[:, 1 : 1 + chunk.shape[1]] = chunk
        return tagged


@final
class MappedSource(RowSource):
    """A source's rows after a function.

    If the function draws random numbers, the last column says what a row draws from, so that it is the same however
    often it is looked up.

    Args:
        source: The rows that the function takes.
        function: It must trace for them.

    Attributes:
        source: As above.
        function: As above.
    """

    computed = True

    def __init__(self, source: RowSource, function: MapFunction) -> None:
        self.source, self.function = source, function
        self.spec = function.output_spec(source.spec, lambda: None)
        self.columns = source.columns + function.is_random

    def gather(self, chunk: Chunk, full: int) -> Batch:
        """Looks up rows; see `RowSource.gather`."""
        wanted = chunks.pad(chunk, full)
        numbers = wanted[:, -1] if self.function.is_random else None
        rows = self.source.gather(wanted[:, : self.source.columns], full)
        return first_rows(self.function.many(rows, numbers), len(chunk))

    def numbered(self, chunk: Chunk) -> Chunk:
        """Returns this source's chunk for one of `source`: a function that draws gets a number for each row."""
        numbers = self.function.numbers(len(chunk))
        return chunk if numbers is None else np.column_stack([chunk, numbers])


def row_bytes(source: RowSource) -> int:
    """Returns the size of one row."""
    leaves = jax.tree.leaves(source.spec)
    return sum(math.prod(leaf.shape) * leaf.dtype.itemsize for leaf in leaves)
