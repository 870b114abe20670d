"""Windows and groups of items, and the items of several passes in turns."""

import itertools
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, TypeVar

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


def windows(
    items: Iterable[T], size: int, shift: int, stride: int, drop_remainder: bool
) -> Iterator[list[T]]:
    """Yields lists of items: list i has items ``i * shift``, ``i * shift + stride`` and so on.

    Args:
        items: What to take them from.
        size: How many items a list has; fewer at the end.
        shift: From the first item of a list to the first item of the next one.
        stride: From one item to the next in a list.
        drop_remainder: Leave shorter lists out.
    """
    items = iter(items)
    span = (size - 1) * stride + 1
    ahead: deque[T] = deque()
    ended = object()
    while True:
        ahead.extend(itertools.islice(items, span - len(ahead)))
        if not ahead or (drop_remainder and len(ahead) < span):
            return
        yield list(itertools.islice(ahead, 0, None, stride))
        for _ in range(shift):
            if ahead:
                ahead.popleft()
            elif next(items, ended) is ended:
                return


def repeated(open_pass: Callable[[], Iterable[T]], count: int | None) -> Iterator[T]:
    """Yields the items of `count` passes; without end if None, unless a pass has no items."""
    for _ in itertools.count() if count is None else range(count):
        empty = True
        for item in open_pass():
            empty = False
            yield item
        if empty:
            return


def interleaved(passes: Iterable[Iterable[T]], cycle: int, block: int) -> Iterator[T]:
    """Yields the items of several passes in turns, in the order of `tf.data.Dataset.interleave`.

    Args:
        passes: The passes; the next one is begun when there is a free place for it.
        cycle: The number of places, for one pass each.
        block: How many items come from a pass before the next one's turn.
    """
    waiting = map(iter, passes)
    places: list[Iterator[T] | None] = [None] * cycle
    more = True
    for turn in itertools.cycle(range(cycle)):
        if places[turn] is None and more:
            places[turn] = next(waiting, None)
            more = places[turn] is not None
        place = places[turn]
        if place is not None:
            count = 0
            for item in itertools.islice(place, block):
                count += 1
                yield item
            if count < block:
                places[turn] = None
        if not more and not any(places):
            return


def grouped(
    items: Iterable[T], key: Callable[[T], K], size: Callable[[K], int]
) -> Iterator[tuple[K, list[T]]]:
    """Yields pairs of a key and the next items that have it; smaller groups at the end, by key.

    Args:
        items: What to group.
        key: Returns an item's key.
        size: Returns the number of items of a key's full group.
    """
    groups: dict[Any, list[T]] = {}
    for item in items:
        number = key(item)
        group = groups.setdefault(number, [])
        group.append(item)
        if len(group) == size(number):
            yield number, groups.pop(number)
    for number in sorted(groups):
        yield number, groups[number]
