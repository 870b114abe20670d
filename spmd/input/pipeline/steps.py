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
from spmd.input.pipeline.processes import Offloader
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
        offloader: Decides whether other processes call them.
    """

    base: Step
    functions: Sequence[MapFunction]
    offloader: Offloader = dataclasses.field(default_factory=Offloader, compare=False)

    def then(self, function: MapFunction) -> "Mapped":
        """Returns this step with one function more."""
        return Mapped(self.base, (*self.functions, function))

    def __call__(self, item: Item) -> Element:
        """Returns the last function's result."""
        return one_of(self.functions, self.base(item))

    def many(self, items: Sequence[Item], full: int) -> Batch:
        """Returns the batch of the elements of `items`.

        Functions that trace take the batch in one call, where its elements have one shape.

        Args:
            items: At least one, at most `full`.
            full: The number of rows to compile for.
        """
        return many_of(self.functions, [self.base(item) for item in items], full)


@final
@dataclasses.dataclass(frozen=True)
class Grouped:
    """The step from a list of another step's items to the batch of their elements.

    Attributes:
        step: The step of the items in the list.
        rows: The length of a full list.
    """

    step: Step
    rows: int

    def __call__(self, items: Sequence[Item]) -> Batch:
        """Returns the batch."""
        if isinstance(self.step, Mapped):
            return self.step.many(items, self.rows)
        return stack([self.step(item) for item in items])


def one_of(functions: Sequence[MapFunction], element: Element) -> Element:
    """Returns the last function's result for an element.

    Args:
        functions: In the order of their calls.
        element: What the first one takes.
    """
    for function in functions:
        element = function.one(element)
    return element


def many_of(functions: Sequence[MapFunction], rows: list[Element], full: int) -> Batch:
    """Returns the batch of the last function's results for elements; see `Mapped.many`.

    Args:
        functions: In the order of their calls.
        rows: What the first one takes; at least one, at most `full`.
        full: The number of rows to compile for.
    """
    count = len(rows)
    batch = None  # either this holds the batch, padded to `full` rows, or `rows` holds its rows
    for function in functions:
        if batch is None and function.traces_for(rows[0]) and can_stack(rows):
            batch = stack(rows + rows[-1:] * (full - len(rows)))
        if batch is not None and not function.traces(row_spec(spec_of(batch))):
            rows, batch = list(split(batch))[:count], None
        if batch is None and function is functions[-1]:
            return function.stacked(rows)
        if batch is None:
            rows = [function.one(row) for row in rows]
        else:
            batch = function.many(batch, function.numbers(count, batch))
    return stack(rows) if batch is None else first_rows(batch, count)


def offloaded(step: Step, workers: int) -> Step:
    """Returns a step that does the same, and may have map functions called in other processes.

    Args:
        step: Is called on several threads.
        workers: How many threads, and at most how many processes.
    """
    if isinstance(step, Grouped) and isinstance(step.step, Mapped):
        mapped, rows = step.step, step.rows
        before = offloaded(mapped.base, workers)

        def batch_of(items: Sequence[Item]) -> Batch:
            given = [before(item) for item in items]
            return mapped.offloader.call(
                mapped.functions,
                "many",
                given,
                rows,
                workers,
                lambda: many_of(mapped.functions, list(given), rows),
            )

        return batch_of
    if isinstance(step, Mapped):
        base = offloaded(step.base, workers)

        def element_of(item: Item) -> Element:
            given = base(item)
            return step.offloader.call(
                step.functions, "one", given, 1, workers, lambda: one_of(step.functions, given)
            )

        return element_of
    return step
