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

_CONTENTS = operator.attrgetter("cell_contents")
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
        self._containers: list[Any] = []
        self._keys: list[Any] = []
        self._owners: list[Any] = []
        self._names: list[str] = []
        self._cells: list[types.CellType] = []
        self._cell_names: list[str] = []
        self._dicts: list[dict[str, Any]] = []
        self._exact_owners: list[dict[str, Any]] = []
        self._exact_keys: list[str] = []
        self._sized: list[Any] = []
        self._known: set[tuple[Any, ...]] = set()
        self.freeze()

    def item(self, container: object, key: object) -> None:
        """Watches what a dictionary or list holds at a key."""
        if self._is_new("item", id(container), key):
            self._containers.append(container)
            self._keys.append(key)

    def attribute(self, owner: Any, name: str) -> None:
        """Watches what an attribute is bound to; for objects without a `__dict__`."""
        if self._is_new("attribute", id(owner), name):
            self._owners.append(owner)
            self._names.append(name)

    def cell(self, cell: types.CellType, name: str) -> None:
        """Watches what a closure's cell is bound to; one that is not bound is left out."""
        if cell_contents(cell) is not _MISSING and self._is_new("cell", id(cell)):
            self._cells.append(cell)
            self._cell_names.append(name)

    def all_items(self, attributes: dict[str, Any]) -> None:
        """Watches all items of a dictionary, and which keys it has."""
        if self._is_new("all_items", id(attributes)):
            self._dicts.append(attributes)

    def length(self, container: Any) -> None:
        """Watches how many entries a container has."""
        if self._is_new("length", id(container)):
            self._sized.append(container)

    def freeze(self) -> None:
        """Takes what is there now as what the program was traced with."""
        self._copies = [dict(attributes) for attributes in self._dicts]
        # Dictionaries are compared at once, which is quick, but takes what says it is equal (variables
        # with equal values do) for the same.
        exact = [
            (attributes, key)
            for attributes in self._dicts
            for key, value in attributes.items()
            if not isinstance(value, PLAIN) and type(value).__eq__ is not object.__eq__
        ]
        self._exact_owners = [attributes for attributes, _ in exact]
        self._exact_keys = [key for _, key in exact]
        self._values = list(self._now())
        self._lengths = list(map(len, self._sized))

    def changed(self) -> str | None:
        """Tells what changed, or None."""
        # The usual answer takes no loop in Python.
        try:
            if (
                not any(map(operator.is_not, self._now(), self._values))
                and self._dicts == self._copies
                and list(map(len, self._sized)) == self._lengths
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
        return any(
            before is not _MISSING and not _is_plain(before) for _, _, before in self._differences()
        )

    def _now(self) -> Iterator[Any]:
        return itertools.chain(
            map(operator.getitem, self._containers, self._keys),
            map(getattr, self._owners, self._names),
            map(_CONTENTS, self._cells),
            map(operator.getitem, self._exact_owners, self._exact_keys),
        )

    def _differences(self) -> Iterator[tuple[str, Any, Any]]:
        """Lists the places that changed, what is there, and what was when the program was traced."""
        now = [
            *map(_look, itertools.repeat(operator.getitem), self._containers, self._keys),
            *map(_look, itertools.repeat(getattr), self._owners, self._names),
            *map(cell_contents, self._cells),
        ]
        # Of `_values` the last part is of entries of dictionaries, which are looked at in the copies.
        names = map(repr, [*self._keys, *self._names, *self._cell_names])
        for name, new, old in zip(names, now, self._values, strict=False):
            if _differ(new, old):
                yield name, new, old
        for attributes, copy in zip(self._dicts, self._copies, strict=True):
            for key in {**copy, **attributes}:
                new, old = attributes.get(key, _MISSING), copy.get(key, _MISSING)
                if _differ(new, old):
                    yield f"attribute {key!r}", new, old

    def _first_change(self) -> str | None:
        for name, new, _ in self._differences():
            return f"{name} is gone" if new is _MISSING else f"{name} changed"
        if list(map(len, self._sized)) != self._lengths:
            return "a container grew or shrank"
        # Other objects, but equal numbers: nothing to trace again for.
        self._values = list(self._now())
        return None

    def _is_new(self, *place: Any) -> bool:
        known = len(self._known)
        self._known.add(place)
        return len(self._known) > known


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
    except (LookupError, AttributeError):
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
