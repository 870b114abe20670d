"""Changes values and bytes at random places, into others that are likely to be taken wrongly."""

import copy
import json
import random
from typing import Any

ODD: tuple[Any, ...] = (
    *(None, True, False, -1, 0, 1, 3, 10**30, -(10**400), 0.5, float("nan"), float("inf")),
    *("", "x", "0", "-1", "a:1", "f4,(", "../../x", "/dev/zero", "\0", "\x1b[2J", "\ud800", "é"),
    *("9" * 5000, "a" * 3000, [], [1], [None], [[]], {}, {"a": 1}, {"": {}}),
)
_KEYS = ("x", "", "../../x", "\0", "path", "index", "worker", "\ud800")
# What JSON's text may hold that no value in Python becomes.
_TEXTS = (b"[" * 3000, b"9" * 5000, b"1e999", b'"\\ud800"', b"\xff\xfe", b"\0", b"}", b",", b"-")


def mutated(value: Any, chance: random.Random) -> Any:
    """Changes a value of JSON: in one to three places something becomes another value, goes, or comes."""
    value = copy.deepcopy(value)
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        places = list(_places(value))
        if not places:
            return chance.choice(ODD)
        holder, key = chance.choice(places)
        how = chance.randrange(8)
        if how == 0:
            del holder[key]
        elif how == 1 and isinstance(holder, dict):
            holder[chance.choice(_KEYS)] = copy.deepcopy(chance.choice(ODD))
        elif how == 2:  # another part of the same value
            other, name = chance.choice(places)
            holder[key] = copy.deepcopy(other[name]) if name in _keys(other) else None
        elif how == 3 and isinstance(holder[key], str):
            holder[key] = holder[key] * 2 if chance.random() < 0.5 else holder[key][1:]
        elif how >= 6:  # of the same type, which gets further
            alike = [odd for odd in ODD if type(odd) is type(holder[key])]
            holder[key] = copy.deepcopy(chance.choice(alike or ODD))
        else:
            holder[key] = copy.deepcopy(chance.choice(ODD))
    return value


def mutated_bytes(text: bytes, chance: random.Random) -> bytes:
    """Changes bytes: cuts the end off, takes a piece out or doubles it, flips a bit, or puts something in."""
    start = chance.randrange(len(text) + 1)
    end = min(len(text), start + chance.choice((1, 2, 8, 64, 1000)))
    how = chance.randrange(5)
    if how == 0:
        return text[:start]
    if how == 1:
        return text[:start] + text[end:]
    if how == 2:
        return text[:end] + text[start:]
    if how == 3 and start < len(text):
        return text[:start] + bytes([text[start] ^ 1 << chance.randrange(8)]) + text[start + 1 :]
    return text[:start] + chance.choice(_TEXTS) + text[start:]


def mutated_json(value: Any, chance: random.Random) -> bytes:
    """Writes a mutated value as JSON, the text of which may be mutated, too."""
    text = json.dumps(mutated(value, chance)).encode()
    return mutated_bytes(text, chance) if chance.random() < 0.3 else text


def _places(value: Any) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        holder = waiting.pop()
        for key in _keys(holder):
            found.append((holder, key))
            waiting.append(holder[key])
    return found


def _keys(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value)
    return list(range(len(value))) if isinstance(value, list) else []
