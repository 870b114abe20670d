"""Steps: from a stream's item to its element."""

import abc
from collections.abc import Callable, Sequence
from typing import final

from spmd.input.pipeline import element as elements
from spmd.input.pipeline import spec as specs
from spmd.input.pipeline.chunks import Chunk
from spmd.input.pipeline.element import Batch, Element
from spmd.input.pipeline.forms import Form, Item, Opener
from spmd.input.pipeline.map_function import MapFunction
from spmd.input.pipeline.row_sources import RowSource


class Step(abc.ABC):
    """Turns items into elements. Keeps nothing between calls, and may be used from many threads."""

    @abc.abstractmethod
    def one(self, item: Item) -> Element:
        """Returns the element of an item."""


@final
class Ready(Step):
    """The items are the elements."""

    def one(self, item: Item) -> Element:
        """Returns the item."""
        return item


@final
class Gather(Step):
    """An item is a chunk of row numbers, the element is the batch of these rows.

    Args:
        source: Where the rows are.
        rows: The number of rows of a full batch.
        unbatched: Returns the form of the single rows, given what starts a pass over such chunks,
            and whether the passes are stable and finite.

    Attributes:
        source: As above.
    """

    def __init__(
        self, source: RowSource, rows: int, unbatched: Callable[[Opener, bool, bool], Form]
    ) -> None:
        self.source, self._rows = source, rows
        self.unbatched = unbatched
        self.computed = source.computed

    def of(self, source: RowSource) -> "Gather":
        """Returns this step with the rows of the same numbers in another source."""
        return Gather(source, self._rows, self.unbatched)

    def one(self, item: Chunk) -> Batch:
        """Returns the batch."""
        return self.source.gather(item, self._rows)


@final
class Mapped(Step):
    """Map functions, one after the other, after another step.

    Args:
        base: The step before the first function.
        functions: In the order of their calls.
    """

    def __init__(self, base: Step, functions: Sequence[MapFunction]) -> None:
        self._base, self._functions = base, functions

    def then(self, function: MapFunction) -> "Mapped":
        """Returns this step with one function more."""
        return Mapped(self._base, (*self._functions, function))

    def one(self, item: Item) -> Element:
        """Returns the last function's result."""
        element = self._base.one(item)
        for function in self._functions:
            element = function.one(element)
        return element

    def many(self, items: Sequence[Item], full: int) -> Batch:
        """Returns the batch of the elements of `items`.

        Functions that trace take the batch in one call, where its elements have one shape.

        Args:
            items: At least one, at most `full`.
            full: The number of rows to compile for.
        """
        rows = [self._base.one(item) for item in items]
        batch = None  # either this holds the batch, padded to `full` rows, or `rows` holds its rows
        for function in self._functions:
            if batch is None and self._takes_batches(function, rows):
                batch = elements.stack(rows + rows[-1:] * (full - len(rows)))
            if batch is not None and not function.traces(specs.unbatched(specs.spec_of(batch))):
                rows, batch = list(elements.split(batch))[: len(items)], None
            if batch is None:
                rows = [function.one(row) for row in rows]
            else:
                batch = function.many(batch)
        if batch is None:
            return elements.stack(rows)
        return elements.first_rows(batch, len(items))

    @staticmethod
    def _takes_batches(function: MapFunction, rows: Sequence[Element]) -> bool:
        return function.traces_for(rows[0]) and elements.can_stack(rows)


@final
class Group(Step):
    """An item is a list of another step's items, the element is the batch of their elements.

    Args:
        step: The step of the items in the list.
        rows: The length of a full list.
    """

    def __init__(self, step: Step, rows: int) -> None:
        self._step, self._rows = step, rows

    def one(self, item: Sequence[Item]) -> Batch:
        """Returns the batch."""
        if isinstance(self._step, Mapped):
            return self._step.many(item, self._rows)
        return elements.stack([self._step.one(each) for each in item])


@final
class Either(Step):
    """An item is a pair: which step it belongs to, and that step's item.

    Args:
        steps: The steps to choose from.
    """

    def __init__(self, *steps: Step) -> None:
        self._steps = steps

    def one(self, item: tuple[int, Item]) -> Element:
        """Returns the element that the item's own step makes of it."""
        which, inner = item
        return self._steps[which].one(inner)
