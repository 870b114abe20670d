"""Steps: from a stream's item to its element."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import TypeAlias, final

from spmd.input.pipeline.chunks import Chunk
from spmd.input.pipeline.element import (
    Batch,
    Element,
    can_stack,
    first_rows,
    split,
    stack,
)
from spmd.input.pipeline.forms import Form, Item
from spmd.input.pipeline.map_function import MapFunction
from spmd.input.pipeline.row_sources import RowSource
from spmd.input.pipeline.spec import row_spec, spec_of

# Turns an item into its element. Keeps nothing between calls, and may be called from many threads.
Step: TypeAlias = Callable[[Item], Element]


def identity_step(item: Item) -> Element:
    """Returns the item, which is the element already."""
    return item


@final
@dataclasses.dataclass(frozen=True)
class Gather:
    """The step from a chunk of row numbers to the batch of these rows.

    Attributes:
        source: Where the rows are.
        rows: The number of rows of a full batch.
        form: The form of the single rows.
    """

    source: RowSource
    rows: int
    form: Form

    def __call__(self, item: Chunk) -> Batch:
        """Returns the batch."""
        return self.source.gather(item, self.rows)


@final
@dataclasses.dataclass(frozen=True)
class Mapped:
    """Map functions, one after the other, after another step.

    Attributes:
        base: The step before the first function.
        functions: In the order of their calls.
    """

    base: Step
    functions: Sequence[MapFunction]

    def then(self, function: MapFunction) -> "Mapped":
        """Returns this step with one function more."""
        return Mapped(self.base, (*self.functions, function))

    def __call__(self, item: Item) -> Element:
        """Returns the last function's result."""
        element = self.base(item)
        for function in self.functions:
            element = function.one(element)
        return element

    def many(self, items: Sequence[Item], full: int) -> Batch:
        """Returns the batch of the elements of `items`.

        Functions that trace take the batch in one call, where its elements have one shape.

        Args:
            items: At least one, at most `full`.
            full: The number of rows to compile for.
        """
        rows = [self.base(item) for item in items]
        batch = None  # either this holds the batch, padded to `full` rows, or `rows` holds its rows
        for function in self.functions:
            if batch is None and function.traces_for(rows[0]) and can_stack(rows):
                batch = stack(rows + rows[-1:] * (full - len(rows)))
            if batch is not None and not function.traces(row_spec(spec_of(batch))):
                rows, batch = list(split(batch))[: len(items)], None
            if batch is None and function is self.functions[-1]:
                return function.stacked(rows)
            if batch is None:
                rows = [function.one(row) for row in rows]
            else:
                batch = function.many(batch)
        return stack(rows) if batch is None else first_rows(batch, len(items))


def grouped_step(step: Step, rows: int) -> Step:
    """Returns the step from a list of another step's items to the batch of their elements.

    Args:
        step: The step of the items in the list.
        rows: The length of a full list.
    """

    def batch_of(items: Sequence[Item]) -> Batch:
        if isinstance(step, Mapped):
            return step.many(items, rows)
        return stack([step(item) for item in items])

    return batch_of
