"""The form of elements that come one after the other."""

import dataclasses
import itertools
from collections.abc import Callable, Iterator
from typing import final

from spmd.input.batch import in_groups
from spmd.input.pipeline import element as elements
from spmd.input.pipeline.caching import remembered
from spmd.input.pipeline.element import Element
from spmd.input.pipeline.forms import Form, Item, Opener, peek
from spmd.input.pipeline.lazy import Lazy
from spmd.input.pipeline.map_function import MapFunction, holds
from spmd.input.pipeline.nested import repeated
from spmd.input.pipeline.parallel import map_in_order
from spmd.input.pipeline.shuffling import shuffle_items
from spmd.input.pipeline.spec import Specs, batch_spec, row_spec
from spmd.input.pipeline.steps import Gather, Grouped, Mapped, Step, identity_step, offloaded


@final
@dataclasses.dataclass(frozen=True)
class Stream(Form):
    """Elements that come one after the other.

    Attributes:
        open: Starts a pass over the items.
        find_spec: Returns the specs of an element.
        step: Turns an item into its element.
        workers: The number of threads for the step; 0 for the reader's own.
    """

    find_spec: Callable[[], Specs]
    step: Step = identity_step
    workers: int = 0
    stable: bool = dataclasses.field(default=False, kw_only=True)

    _cut = staticmethod(itertools.islice)
    _shuffle = staticmethod(shuffle_items)

    def spec(self) -> Specs:
        """Returns the specs of an element; see `Form.spec`."""
        return self.find_spec()

    def elements(self) -> Iterator[Element]:
        """Starts a pass; see `Form.elements`."""
        # One thread draws random numbers in a certain order, which the start of processes must not change.
        step = offloaded(self.step, self.workers) if self.workers > 1 else self.step
        return map_in_order(step, self.open(), self.workers)

    def cache(self) -> Form:
        """Remembers the elements; see `Form.cache`."""
        in_memory = isinstance(self.step, Gather) and not self.step.source.computed
        if not self.finite or (self.stable and in_memory):
            return self  # no pass ever ends, or the arrays are in memory already
        return self._ready(remembered(self.elements), stable=True)

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
            open=lambda: in_groups(self.open(), [batch_size], drop_remainder),
            step=Grouped(self.step, batch_size),
            find_spec=lambda: batch_spec(self.spec(), rows),
        )

    def unbatch(self) -> Form:
        """Takes batches apart; see `Form.unbatch`."""
        if isinstance(self.step, Gather):
            return dataclasses.replace(
                self.step.form, open=self.open, stable=self.stable, finite=self.finite
            )
        return dataclasses.replace(
            self._ready(lambda: elements.unbatched(self.elements()), stable=self.stable),
            find_spec=lambda: row_spec(self.spec()),
        )

    def _ready(self, open_elements: Opener, stable: bool) -> "Stream":
        """Returns a stream of elements that need no step; the spec stays."""
        return Stream(open_elements, self.find_spec, stable=stable, finite=self.finite)

    def _repeated(self, count: int | None) -> Iterator[Item]:
        return repeated(self.open, count)


def stepped(form: Form, step: Step, find_spec: Callable[[], Specs]) -> Stream:
    """Returns what a step makes of elements; where it fails for one, the next ones can be read.

    Args:
        form: The elements, one after the other.
        step: Turns an element into another one.
        find_spec: Returns the specs of the other ones.
    """
    stream = form if isinstance(form, Stream) else ready(form.elements, find_spec, form)
    before = stream.step
    after = step if before is identity_step else lambda item: step(before(item))
    return dataclasses.replace(stream, step=after, find_spec=find_spec)


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
    return Stream(open_elements, find_spec, finite=finite)
