"""Forms: pipelines of elements, by how the elements can be read.

The terms of this package:

**Form**: a pipeline. It checks no arguments. It starts passes, any number of them, also at the same
time.

**Pass**: one reading from the first element to the last, or one round of `repeat`.

**Rows** (`rows.Rows`): elements that can be looked up by number, many at a time. A pass yields
chunks of row numbers (`chunks`); a row source (`row_sources`) turns a chunk into a batch. Operations that
only select or reorder rows, such as `shuffle`, work on the numbers.

**Stream** (`stream.Stream`): elements that come one after the other. A pass yields items; a step
(`steps`) turns an item into its element. The item is as raw as possible, such as the row numbers of a
batch, so that an element that `skip` or `shard` drops is never built.

**Stable**: every pass has the same elements in the same order. **Finite**: a pass ends.
"""

import abc
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Self, TypeAlias

from spmd.input.pipeline.element import Element
from spmd.input.pipeline.lazy import Lazy
from spmd.input.pipeline.map_function import MapFunction
from spmd.input.pipeline.shuffling import ShuffleOrder, peeking
from spmd.input.pipeline.spec import Specs, spec_of

# What a stream yields before its step.
Item: TypeAlias = Any
# Starts a pass.
Opener: TypeAlias = Callable[[], Iterator[Item]]


@dataclasses.dataclass(frozen=True)
class Form(abc.ABC):
    """A pipeline. Each method but `elements` and `spec` returns a form, and reads nothing yet.

    Attributes:
        open: Starts a pass, over chunks of row numbers or over items.
        stable: Every pass has the same elements in the same order.
        finite: A pass ends, as far as is known.
    """

    open: Opener
    stable: bool = dataclasses.field(kw_only=True)
    finite: bool = dataclasses.field(default=True, kw_only=True)

    # What `itertools.islice` and `shuffle_items` do, for what a pass yields.
    _cut: ClassVar[Callable[..., Iterator[Item]]]
    _shuffle: ClassVar[Callable[..., Iterator[Item]]]

    @abc.abstractmethod
    def spec(self) -> Specs:
        """Returns the specs of an element; may look at the first one."""

    @abc.abstractmethod
    def elements(self) -> Iterator[Element]:
        """Starts a pass, and yields its elements."""

    def take(self, count: int) -> Self:
        """Keeps the first `count` elements."""
        return dataclasses.replace(self, open=lambda: self._cut(self.open(), 0, count), finite=True)

    def skip(self, count: int) -> Self:
        """Drops the first `count` elements."""
        return dataclasses.replace(self, open=lambda: self._cut(self.open(), count, None))

    def shard(self, num_shards: int, index: int) -> Self:
        """Keeps every `num_shards`-th element, from element `index` on."""
        return dataclasses.replace(
            self, open=lambda: self._cut(self.open(), index, None, num_shards)
        )

    def repeat(self, count: int | None) -> Self:
        """Makes `count` passes one, or infinitely many if None."""
        return dataclasses.replace(
            self, open=lambda: self._repeated(count), finite=self.finite and count is not None
        )

    def shuffle(self, buffer_size: int, order: ShuffleOrder) -> Self:
        """Changes the order, for every pass anew if `order.reshuffle` is set."""
        return dataclasses.replace(
            self,
            open=lambda: self._shuffle(self.open(), buffer_size, order),
            stable=self.stable and not order.reshuffle,
        )

    @abc.abstractmethod
    def cache(self) -> "Form":
        """Remembers the elements of the first complete pass for the later ones."""

    @abc.abstractmethod
    def map(self, function: MapFunction, workers: int) -> "Form":
        """Applies a function to every element, on `workers` threads if it cannot be compiled."""

    @abc.abstractmethod
    def filter(self, predicate: MapFunction) -> "Form":
        """Keeps the elements for which the predicate holds."""

    @abc.abstractmethod
    def batch(self, batch_size: int, drop_remainder: bool) -> "Form":
        """Stacks `batch_size` elements at a time."""

    @abc.abstractmethod
    def unbatch(self) -> "Form":
        """Makes every row of every element an element."""

    @abc.abstractmethod
    def _repeated(self, count: int | None) -> Iterator[Item]:
        """Starts `count` passes, one after the other."""


def peek(form: Form) -> Element | None:
    """Returns the first element, or None if there is none; the next pass begins with it again."""
    with peeking():
        return next(form.elements(), None)


def found_spec(get_form: Callable[[], Form]) -> Lazy[Specs]:
    """Returns a way to find the specs of an element by looking at the first one.

    Args:
        get_form: Returns the form; called when the specs are first asked for.
    """

    def find() -> Specs:
        first = peek(get_form())
        if first is None:
            raise ValueError(
                "element_spec: the dataset is empty, so there is no element to look at.\n"
                "Fix: declare it, as in from_generator(..., output_signature=...)"
            )
        return spec_of(first)

    return Lazy(find)
