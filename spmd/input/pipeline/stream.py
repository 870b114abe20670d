"""The form of elements that come one after the other."""

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Self, final

from spmd.input.pipeline import element as elements
from spmd.input.pipeline import spec as specs
from spmd.input.pipeline.caching import StreamCache
from spmd.input.pipeline.element import Element
from spmd.input.pipeline.forms import Form, Item, Opener, peek
from spmd.input.pipeline.lazy import Lazy
from spmd.input.pipeline.map_function import MapFunction
from spmd.input.pipeline.parallel import map_in_order
from spmd.input.pipeline.predicate import holds
from spmd.input.pipeline.shuffling import ShuffleOrder, shuffle_items
from spmd.input.pipeline.spec import Specs
from spmd.input.pipeline.steps import Gather, Group, Mapped, Ready, Step


@final
@dataclasses.dataclass(frozen=True)
class Stream(Form):
    """Elements that come one after the other.

    Attributes:
        open: Starts a pass over the items.
        step: Turns an item into its element.
        find_spec: Returns the specs of an element.
        stable: Every pass has the same elements in the same order.
        finite: A pass ends, as far as is known.
        workers: The number of threads for the step; 0 for the reader's own.
    """

    open: Opener
    step: Step
    find_spec: Callable[[], Specs]
    stable: bool
    finite: bool
    workers: int = 0

    def spec(self) -> Specs:
        """Returns the specs of an element; see `Form.spec`."""
        return self.find_spec()

    def elements(self) -> Iterator[Element]:
        """Starts a pass; see `Form.elements`."""
        return map_in_order(self.step.one, self.open(), self.workers)

    def take(self, count: int) -> Self:
        """Keeps the first elements; see `Form.take`."""
        return dataclasses.replace(
            self, open=lambda: itertools.islice(self.open(), count), finite=True
        )

    def skip(self, count: int) -> Self:
        """Drops the first elements; see `Form.skip`."""
        return dataclasses.replace(self, open=lambda: itertools.islice(self.open(), count, None))

    def shard(self, num_shards: int, index: int) -> Self:
        """Keeps some of the elements; see `Form.shard`."""
        return dataclasses.replace(
            self, open=lambda: itertools.islice(self.open(), index, None, num_shards)
        )

    def repeat(self, count: int | None) -> Self:
        """Makes several passes one; see `Form.repeat`."""
        return dataclasses.replace(
            self,
            open=lambda: _repeat(self.open, count),
            finite=self.finite and count is not None,
        )

    def shuffle(self, buffer_size: int, order: ShuffleOrder) -> Self:
        """Changes the order; see `Form.shuffle`."""
        return dataclasses.replace(
            self,
            open=lambda: shuffle_items(self.open(), buffer_size, order),
            stable=self.stable and not order.reshuffle,
        )

    def cache(self) -> Form:
        """Remembers the elements; see `Form.cache`."""
        if self.stable and isinstance(self.step, Gather) and not self.step.computed:
            return self  # the arrays are in memory already
        if not self.finite:
            return self  # no pass ever ends, so the cache would never be read
        return self._ready(StreamCache(self.elements).open, stable=True)

    def map(self, function: MapFunction, workers: int) -> Form:
        """Applies a function; see `Form.map`."""
        step = self.step if isinstance(self.step, Mapped) else Mapped(self.step, ())
        mapped = dataclasses.replace(self, step=step.then(function), workers=0)
        return dataclasses.replace(
            mapped,
            workers=max(self.workers, workers),
            find_spec=Lazy(lambda: function.output_spec(self.spec(), lambda: peek(mapped))),
        )

    def filter(self, predicate: MapFunction) -> Form:
        """Keeps some of the elements; see `Form.filter`."""
        return self._ready(
            lambda: (element for element in self.elements() if holds(predicate, element)),
            stable=self.stable,
        )

    def batch(self, batch_size: int, drop_remainder: bool) -> Form:
        """Stacks elements; see `Form.batch`."""
        rows = batch_size if drop_remainder else None
        return dataclasses.replace(
            self,
            open=lambda: _group(self.open(), batch_size, drop_remainder),
            step=Group(self.step, batch_size),
            find_spec=lambda: specs.batched(self.spec(), rows),
        )

    def unbatch(self) -> Form:
        """Takes batches apart; see `Form.unbatch`."""
        if isinstance(self.step, Gather):
            return self.step.unbatched(self.open, self.stable, self.finite)
        return dataclasses.replace(
            self._ready(lambda: elements.unbatched(self.elements()), stable=self.stable),
            find_spec=lambda: specs.unbatched(self.spec()),
        )

    def _ready(self, open_elements: Opener, stable: bool) -> "Stream":
        """Returns a stream of elements that need no step; the spec stays."""
        return Stream(open_elements, Ready(), self.find_spec, stable, self.finite)


def ready(
    open_elements: Opener, find_spec: Callable[[], Specs], origin: Form | None = None
) -> Stream:
    """Returns the form of elements that Python code yields.

    Args:
        open_elements: Starts a pass.
        find_spec: Returns the specs of an element.
        origin: What they are made from; None for a pass that ends.
    """
    finite = origin is None or origin.finite
    return Stream(open_elements, Ready(), find_spec, stable=False, finite=finite)


def _repeat(open_pass: Opener, count: int | None) -> Iterator[Item]:
    for _ in itertools.count() if count is None else range(count):
        empty = True
        for item in open_pass():
            empty = False
            yield item
        if empty:
            return


def _group(items: Iterable[Item], size: int, drop_remainder: bool) -> Iterator[list[Item]]:
    items = iter(items)
    while group := list(itertools.islice(items, size)):
        if len(group) == size or not drop_remainder:
            yield group
