"""Has anything changed that a program was traced with? Asked before every step, so it must be quick.

A traced program is made for the objects that its function reached at that time. If a name, an
attribute or an entry of a container leads to another object by now, or a module is in another mode,
the program is *stale*, and another one must be traced.
"""

import itertools
import operator
import types
from collections.abc import Iterator
from typing import Any

_CONTENTS = operator.attrgetter("cell_contents")
_NUMBERS = (str, bytes, int, float, complex, bool)


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
        """Makes a watch of nothing."""
        self._containers: list[Any] = []
        self._keys: list[Any] = []
        self._owners: list[Any] = []
        self._names: list[str] = []
        self._cells: list[types.CellType] = []
        self._cell_names: list[str] = []
        self._dicts: list[dict[str, Any]] = []
        self._sized: list[Any] = []
        self._known: set[tuple[Any, ...]] = set()
        self.freeze()

    def item(self, container: Any, key: Any) -> None:
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

    def everything(self, attributes: dict[str, Any]) -> None:
        """Watches all entries of a dictionary, and which there are."""
        if self._is_new("everything", id(attributes)):
            self._dicts.append(attributes)

    def length(self, container: Any) -> None:
        """Watches how many entries a container has."""
        if self._is_new("length", id(container)):
            self._sized.append(container)

    def freeze(self) -> None:
        """Takes what is there now as what the program was traced with."""
        self._values = list(self._now())
        self._copies = [dict(attributes) for attributes in self._dicts]
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

    def _now(self) -> Iterator[Any]:
        return itertools.chain(
            map(operator.getitem, self._containers, self._keys),
            map(getattr, self._owners, self._names),
            map(_CONTENTS, self._cells),
        )

    def _first_change(self) -> str | None:
        names = map(repr, [*self._keys, *self._names, *self._cell_names])
        try:
            now = list(self._now())
        except (LookupError, AttributeError, ValueError):
            return "an attribute, entry or name is gone"
        for name, new, old in zip(names, now, self._values, strict=True):
            if _differ(new, old):
                return f"{name} changed"
        for attributes, copy in zip(self._dicts, self._copies, strict=True):
            for key in {**copy, **attributes}:
                if _differ(attributes.get(key, _MISSING), copy.get(key, _MISSING)):
                    return f"attribute {key!r} changed"
        if list(map(len, self._sized)) != self._lengths:
            return "a container grew or shrank"
        # Other objects, but equal numbers: nothing to trace again for.
        self._values = now
        return None

    def _is_new(self, *place: Any) -> bool:
        if place in self._known:
            return False
        self._known.add(place)
        return True


_MISSING = object()


def cell_contents(cell: types.CellType) -> Any:
    """Returns what a closure's cell is bound to, or a mark if it is not bound yet."""
    try:
        return cell.cell_contents
    except ValueError:
        return _MISSING


def _differ(now: Any, before: Any) -> bool:
    if now is before:
        return False
    return not (isinstance(now, _NUMBERS) and type(now) is type(before) and now == before)
