"""What the content of a manifest must look like: whoever reads one may trust the types in it."""

from collections.abc import Mapping
from typing import Any, NoReturn

import ml_dtypes
import numpy as np

_KINDS = ("node", "arrays", "value", "position")
_CODES = np.typecodes["AllInteger"] + np.typecodes["AllFloat"] + "?"
_DTYPES = {np.dtype(code).name for code in _CODES} | {
    name for name, value in vars(ml_dtypes).items() if isinstance(value, type)
}
_GENERATORS = ("threefry2x32", "rbg", "unsafe_rbg")


class SchemaError(ValueError):
    """A manifest that does not look like one; the message says where, and what was expected."""


def check_content(content: object) -> None:
    """Checks the content of a manifest.

    Args:
        content: as JSON has it.

    Raises:
        SchemaError: something is missing, or of another type.

    Examples:
        >>> node = {"path": "", "kind": "value", "children": {}, "entries": [], "value": 3}
        >>> check_content({"nodes": [node], "positions": [{}], "notes": {}, "files": {"a": [1, 2]}})
        >>> check_content({"nodes": [], "positions": [], "notes": {}, "files": {}})
        Traceback (most recent call last):
            ...
        spmd.checkpoint.schema.SchemaError: nodes: expected at least one, got none
    """
    fields = _mapping(content, "the content")
    nodes = _items(_field(fields, "nodes", ""), "nodes")
    positions = _items(_field(fields, "positions", ""), "positions")
    if not nodes:
        _refuse("nodes", "at least one", "none")
    if not positions:
        _refuse("positions", "one for each process", "none")
    for number, position in enumerate(positions):
        _mapping(position, f"positions[{number}]")
    for number, node in enumerate(nodes):
        _check_node(node, f"nodes[{number}]", len(nodes), positions)
    _mapping(_field(fields, "notes", ""), "notes")
    for name, written in _mapping(_field(fields, "files", ""), "files").items():
        place = f"files[{name!r}]"
        if len(_items(written, place)) != 2:
            _refuse(place, "a size and a CRC-32", written)
        for number in written:
            _number(number, place)


def _check_node(node: object, place: str, count: int, positions: list[Any]) -> None:
    fields = _mapping(node, place)
    extra = fields.keys() - {"path", "kind", "children", "entries", "value"}
    if extra:
        _refuse(place, "no other fields", sorted(extra))
    path, kind = _text(fields, "path", place), _text(fields, "kind", place)
    if kind not in _KINDS:
        _refuse(f"{place}.kind", f"one of {', '.join(_KINDS)}", kind)
    for name, child in _mapping(_field(fields, "children", place), f"{place}.children").items():
        if _number(child, f"{place}.children[{name!r}]") >= count:
            _refuse(f"{place}.children[{name!r}]", f"a number below {count}", child)
    entries = _items(_field(fields, "entries", place), f"{place}.entries")
    for number, entry in enumerate(entries):
        _check_entry(entry, f"{place}.entries[{number}]")
    value = _field(fields, "value", place)
    if not isinstance(value, (str, int, float, bool, type(None))):
        _refuse(f"{place}.value", "a number or a string", value)
    if kind == "position":
        for number, of_process in enumerate(positions):
            _check_position(of_process.get(path), f"positions[{number}][{path!r}]")


def _check_entry(entry: object, place: str) -> None:
    fields = _mapping(entry, place)
    extra = fields.keys() - {"name", "shape", "dtype", "prng"}
    if extra:
        _refuse(place, "no other fields", sorted(extra))
    _text(fields, "name", place)
    for size in _items(_field(fields, "shape", place), f"{place}.shape"):
        _number(size, f"{place}.shape")
    name = _text(fields, "dtype", place)
    if name not in _DTYPES:
        _refuse(f"{place}.dtype", "the name of a dtype", name)
    if fields.get("prng") not in (None, *_GENERATORS):
        _refuse(f"{place}.prng", f"one of {', '.join(_GENERATORS)}", fields["prng"])


def _check_position(position: object, place: str) -> None:
    fields = _mapping(position, place)
    if fields.keys() not in ({"bytes"}, {"json"}):
        _refuse(place, "either bytes or json", sorted(fields))
    if "bytes" in fields:
        digits = _text(fields, "bytes", place)
        try:
            bytes.fromhex(digits)
        except ValueError:
            _refuse(f"{place}.bytes", "hexadecimal digits", digits)


def _field(fields: Mapping[str, Any], name: str, place: str) -> Any:
    if name not in fields:
        _refuse(place or "the content", f"a field {name!r}", sorted(fields))
    return fields[name]


def _mapping(value: object, place: str) -> dict[str, Any]:
    return value if isinstance(value, dict) else _refuse(place, "an object", value)


def _items(value: object, place: str) -> list[Any]:
    return value if isinstance(value, list) else _refuse(place, "a list", value)


def _text(fields: Mapping[str, Any], name: str, place: str) -> str:
    value = _field(fields, name, place)
    return value if isinstance(value, str) else _refuse(f"{place}.{name}", "a string", value)


def _number(value: object, place: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        _refuse(place, "a whole number of at least 0", value)
    return value


def _refuse(place: str, expected: str, found: object) -> NoReturn:
    shown = found if isinstance(found, str) and found == "none" else ascii(found)
    raise SchemaError(f"{place}: expected {expected}, got {shown[:100]}")
