"""Has anything changed that a program was traced with? Asked before every step, so it must be quick.

A traced program is made for the objects that its function reached at that time. If a name, an
attribute or an entry of a container leads to another object by now, or a module is in another mode,
the program is *stale*, and another one must be traced.
"""

import itertools
import operator
import types
from collections.abc import Callable, Iterator
from typing import Any, cast

# Values that are compared by what they are, not by which object they are.
PLAIN = (str, bytes, int, float, complex, bool, type(None))


class Watch:
    """The places that a program depends on, and what was there when it was traced.

    Examples:
        >>> settings = {"rate": 0.5}
        >>> watch = Watch()
        >>> watch.item(settings, "rate")
        >>> watch.freeze()
        >>> settings["rate"] = 0.25
        >>> watch.changed()
        "'rate' changed"
    """

    def __init__(self) -> None:
        # By identity and key, so that each place is watched once.
        self._items: dict[tuple[int, Any], Any] = {}
        self._attributes: dict[tuple[int, str], tuple[Any, str]] = {}
        self._dicts: dict[int, dict[str, Any]] = {}
        self._sized: dict[int, Any] = {}
        self.freeze()

    def item(self, container: object, key: object) -> None:
        """Watches what a dictionary or list holds at a key."""
        self._items[id(container), key] = container

    def attribute(self, owner: Any, name: str) -> None:
        """Watches what an attribute is bound to; for objects without a `__dict__`."""
        self._attributes[id(owner), name] = owner, name

    def cell(self, cell: types.CellType, name: str) -> None:
        """Watches what a closure's cell is bound to; one that is not bound is left out."""
        if cell_contents(cell) is not _MISSING:
            self._attributes[id(cell), name] = cell, "cell_contents"

    def all_items(self, attributes: dict[str, Any]) -> None:
        """Watches all items of a dictionary, and which keys it has."""
        self._dicts[id(attributes)] = attributes

    def length(self, container: Any) -> None:
        """Watches how many entries a container has."""
        self._sized[id(container)] = container

    def freeze(self) -> None:
        """Takes what is there now as what the program was traced with."""
        self._copies = {place: dict(attributes) for place, attributes in self._dicts.items()}
        # Dictionaries are compared at once, which is quick, but takes what says it is equal (variables
        # with equal values do) for the same.
        exact = [
            (attributes, key)
            for attributes in self._dicts.values()
            for key, value in attributes.items()
            if not isinstance(value, PLAIN) and type(value).__eq__ is not object.__eq__
        ]
        # Lists, which C functions walk before every step.
        self._owners = [owner for owner, _ in self._attributes.values()]
        self._names = [name for _, name in self._attributes.values()]
        self._containers = [*self._items.values(), *(attributes for attributes, _ in exact)]
        self._keys = [key for _, key in (*self._items, *exact)]
        self._values = list(self._now())
        self._lengths = list(map(len, self._sized.values()))

    def changed(self) -> str | None:
        """Tells what changed, or None."""
        # The usual answer takes no loop in Python.
        try:
            if (
                not any(map(operator.is_not, self._now(), self._values))
                and self._dicts == self._copies
                and list(map(len, self._sized.values())) == self._lengths
            ):
                return None
        except (LookupError, AttributeError, ValueError, TypeError):
            # An entry is gone, or something unlike what was there cannot be compared to it.
            return self._first_change() or "an attribute changed"
        return self._first_change()

    def replaced(self) -> bool:
        """Tells whether an object that was there has given way to another, or is gone.

        A number or mode that changed does not count: it often changes back, and keeps nothing alive.
        """
        return any(old is not _MISSING and not _is_plain(old) for _, _, old in self._differences())

    def _now(self) -> Iterator[Any]:
        return itertools.chain(
            map(getattr, self._owners, self._names),
            map(operator.getitem, self._containers, self._keys),
        )

    def _differences(self) -> Iterator[tuple[str, Any, Any]]:
        """Lists the places that changed, what is there, and what was when the program was traced."""
        now = [
            *map(_look, itertools.repeat(getattr), self._owners, self._names),
            *map(_look, itertools.repeat(operator.getitem), self._containers, self._keys),
        ]
        # Of `_values` the last part is of entries of dictionaries, which are looked at in the copies.
        places = (*self._attributes, *self._items)
        for (_, name), new, old in zip(places, now, self._values, strict=False):
            if _differ(new, old):
                yield repr(name), new, old
        for place, attributes in self._dicts.items():
            copy = self._copies[place]
            for key in {**copy, **attributes}:
                new, old = attributes.get(key, _MISSING), copy.get(key, _MISSING)
                if _differ(new, old):
                    yield f"attribute {key!r}", new, old

    def _first_change(self) -> str | None:
        for name, new, _ in self._differences():
            return f"{name} is gone" if new is _MISSING else f"{name} changed"
        if list(map(len, self._sized.values())) != self._lengths:
            return "a container grew or shrank"
        # Other objects, but equal numbers: nothing to trace again for.
        self._values = list(self._now())
        return None


_MISSING = object()


def cell_contents(cell: types.CellType) -> Any:
    """Returns what a closure's cell is bound to, or a mark if it is not bound yet."""
    try:
        return cell.cell_contents
    except ValueError:
        return _MISSING


def _look(how: Callable[[Any, Any], Any], owner: Any, name: Any) -> Any:
    try:
        return how(owner, name)
    except (LookupError, AttributeError, ValueError):
        return _MISSING


def _differ(now: Any, before: Any) -> bool:
    same_type = type(now) is type(before)
    equal = same_type and _is_plain(now) and _is_plain(before) and now == before
    return now is not before and not equal


def _is_plain(value: Any) -> bool:
    """Tells whether a value is a number, a text or nothing, or a tuple of such."""
    if type(value) is tuple:
        return all(map(_is_plain, cast(tuple[Any, ...], value)))
    return isinstance(value, PLAIN)
