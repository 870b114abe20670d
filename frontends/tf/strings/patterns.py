r"""Regular expressions in RE2's syntax, by Python's `re`.

RE2 knows no look-around and no back references; what both know means the same, but for flags, which RE2 takes
in any place, and a few escapes, which are translated: `\pL` and `\p{L}`, `\z`, `\Q...\E`, `[[:alpha:]]`, and `$`, which is
the very end of the text here. `\d`, `\w`, `\s` and `\b` are ASCII's, and a dot is a character of UTF-8.
"""

import contextlib
import dataclasses
import functools
import logging
import re
import sys
import unicodedata
from collections.abc import Callable
from typing import NamedTuple

_LOGGER = logging.getLogger(__name__)

_POSIX = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": r"\x00-\x7F",
    "blank": r"\t ",
    "cntrl": r"\x00-\x1F\x7F",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t\n\v\f\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
_SPACE = r"\t\n\f\r "
_GROUP = re.compile(r"\[:(\^?)(\w+):\]")
_FLAGS = re.compile(r"\(\?(?P<on>[imsU]*)(?:-(?P<off>[imsU]+))?(?P<end>[:)])")
_NAMED = re.compile(r"\(\?P<\w+>")
_REPEAT = re.compile(r"[*+?]|\{\d+(?:,\d*)?\}")


@functools.lru_cache(maxsize=256)
def compiled(pattern: bytes) -> re.Pattern[str]:
    """Compiles a pattern.

    Raises:
        ValueError: it is no pattern of RE2, or has what Python's `re` has not.
    """
    text = pattern.decode("utf-8", "surrogateescape")
    try:
        return re.compile(_translated(text), re.ASCII)
    except re.error as error:
        raise ValueError(f"Invalid pattern: {text}, error: {error}") from None


@functools.lru_cache(maxsize=256)
def rewritten(rewrite: bytes, groups: int) -> "Rewrite":
    r"""Takes a replacement apart: texts, and the numbers of groups, such as `\1`."""
    parts: list[str | int] = []
    for literal, escape in re.findall(
        r"([^\\]+)|\\(.?)", rewrite.decode("utf-8", "surrogateescape"), re.S
    ):
        if literal:
            parts.append(literal)
        elif escape == "\\":
            parts.append("\\")
        elif escape.isdigit():
            parts.append(int(escape))
        else:
            _LOGGER.warning(
                "invalid rewrite pattern: %r: expected a digit or \\ behind \\", rewrite
            )
            return Rewrite(tuple(parts), is_whole=False)
    if any(isinstance(part, int) and part > groups for part in parts):
        _LOGGER.warning(
            "rewrite pattern %r names a group, and there are %d: nothing is replaced",
            rewrite,
            groups,
        )
        return Rewrite(None, is_whole=False)
    return Rewrite(tuple(parts), is_whole=True)


class Rewrite(NamedTuple):
    """What replaces a match.

    Attributes:
        parts: texts, and numbers of groups; None if nothing is to be replaced, since there is no such group.
        is_whole: whether there are further parts, which are no replacement. RE2 then leaves a single match as it is, and
            replaces all matches by the parts before.
    """

    parts: tuple[str | int, ...] | None
    is_whole: bool


def replaced(pattern: re.Pattern[str], rewrite: Rewrite, text: bytes, *, everywhere: bool) -> bytes:
    """Replaces what a pattern matches.

    Args:
        pattern: see `compiled`.
        rewrite: see `rewritten`.
        text: where to replace.
        everywhere: whether to go on after the first match.
    """
    if rewrite.parts is None or not (everywhere or rewrite.is_whole):
        return text
    given = text.decode("utf-8", "surrogateescape")
    with contextlib.suppress(_EmptyMatchError):
        found = pattern.sub(_replacing(rewrite.parts), given, 0 if everywhere else 1)
        return text if found is given else found.encode("utf-8", "surrogateescape")
    made, at, last = [], 0, -1
    while at <= len(given) and (match := pattern.search(given, at)) is not None:
        made.append(given[at : match.start()])
        at = match.end()
        if match.start() == at == last:
            # RE2 takes no empty match right behind another one, and goes on behind the next character.
            made.append(given[at : at + 1])
            at += 1
            continue
        made += [part if isinstance(part, str) else match[part] or "" for part in rewrite.parts]
        last = at
        if not everywhere:
            break
    return ("".join(made) + given[at:]).encode("utf-8", "surrogateescape")


class _EmptyMatchError(Exception):
    """A pattern matches between two characters, where Python goes on in another way than RE2."""


@functools.lru_cache(maxsize=256)
def _replacing(parts: tuple[str | int, ...]) -> Callable[[re.Match[str]], str]:
    """Makes the function that `re.sub` calls for a match."""
    texts = "".join(map(str, parts)) if all(isinstance(part, str) for part in parts) else None

    def replace(match: re.Match[str]) -> str:
        if match.start() == match.end():
            raise _EmptyMatchError
        if texts is not None:
            return texts
        return "".join([part if isinstance(part, str) else match[part] or "" for part in parts])

    return replace


@dataclasses.dataclass
class _Group:
    """A group that is being translated.

    Attributes:
        flags: that hold.
        opened: the groups of Python that stand for flags set within this one, such as `(?i:`.
    """

    flags: frozenset[str] = frozenset()
    opened: tuple[str, ...] = ()


def _translated(text: str) -> str:
    made, at, in_class, groups = [], 0, False, [_Group()]
    while at < len(text):
        char = text[at]
        if char == "\\" and at + 1 < len(text):
            piece, at = _escape(text, at, in_class)
            made.append(piece)
            continue
        if not in_class:
            if (repeat := _REPEAT.match(text, at)) is not None:
                piece, at = _repetition(text, repeat, "U" in groups[-1].flags)
                made.append(piece)
                continue
            if char == "(":
                piece, at = _opened(text, at, groups)
                made.append(piece)
                continue
        posix = _GROUP.match(text, at) if in_class else None
        if posix is not None and posix[2] in _POSIX:
            made.append(_POSIX[posix[2]] if not posix[1] else _outside(_POSIX[posix[2]]))
            at = posix.end()
            continue
        if char == "[":
            made.append("\\[" if in_class else "[")
            if not in_class:
                in_class = True
                for special in ("^", "]"):
                    if text[at + 1 : at + 2] == special:
                        made.append("^" if special == "^" else "\\]")
                        at += 1
        elif in_class:
            in_class = char != "]"
            made.append("\\" + char if char in "&~|" else char)
        elif char == "$":
            made.append("$" if "m" in groups[-1].flags else r"\Z")
        elif char == "|":
            # Flags hold behind it as well, and Python's groups end before it.
            opened = groups[-1].opened
            made += [")" * len(opened), "|", *opened]
        elif char == ")":
            ended = groups.pop() if len(groups) > 1 else _Group()
            made.append(")" * (len(ended.opened) + 1))
        else:
            made.append("\\{" if char == "{" else char)
        at += 1
    made.append(")" * len(groups[0].opened))
    return "".join(made)


def _opened(text: str, at: int, groups: list[_Group]) -> tuple[str, int]:
    """Translates what begins with a parenthesis; returns it and where it ends."""
    now = groups[-1]
    if text[at + 1 : at + 2] != "?":
        groups.append(_Group(now.flags))
        return "(", at + 1
    if (named := _NAMED.match(text, at)) is not None:
        groups.append(_Group(now.flags))
        return named[0], named.end()
    found = _FLAGS.match(text, at)
    if found is None:
        raise ValueError(
            f"Invalid pattern: {text}, error: invalid perl operator: {text[at : at + 3]}: RE2 has no look-around, no back "
            "references, and no flags but i, m, s and U."
        )
    on, off = set(found["on"]), set(found["off"] or "")
    flags = frozenset((now.flags | on) - off)
    # Python has all of them but U, which `_repetition` translates.
    enabled, disabled = "".join(sorted(on - off - {"U"})), "".join(sorted(off - {"U"}))
    group = f"(?{enabled}{'-' if disabled else ''}{disabled}:"
    if found["end"] == ":":
        groups.append(_Group(flags))
    else:
        groups[-1] = _Group(flags, (*now.opened, group))
    return group, found.end()


def _repetition(text: str, found: re.Match[str], is_swapped: bool) -> tuple[str, int]:
    """Translates a repetition, and whether it is lazy, which the flag U swaps; returns it and where it ends."""
    end = found.end()
    is_lazy = text[end : end + 1] == "?"
    end += is_lazy
    if text[end : end + 1] in ("*", "+", "?"):
        raise ValueError(
            f"Invalid pattern: {text}, error: bad repetition operator: {text[found.start() : end + 1]}"
        )
    return found[0] + ("?" if is_lazy != is_swapped else ""), end


def _escape(text: str, at: int, in_class: bool) -> tuple[str, int]:
    """Translates what begins with a backslash; returns it and where it ends."""
    char = text[at + 1]
    if char in "pP":
        named = re.compile(r"\{(\^?)(\w+)\}|(\w)").match(text, at + 2)
        if named is None:
            raise ValueError(
                f"Invalid pattern: {text}, error: invalid character class range: \\{char}"
            )
        outside = (char == "P") != (named[1] == "^")
        ranges = _category(named[2] or named[3], outside)
        return (ranges if in_class else f"[{ranges}]"), named.end()
    if char == "Q" and not in_class:
        end = text.find(r"\E", at)
        end = len(text) if end < 0 else end
        return re.escape(text[at + 2 : end]), end + 2
    if char == "x" and text[at + 2 : at + 3] == "{":
        code = re.compile(r"([0-9a-fA-F]{1,8})\}").match(text, at + 3)
        if code is None or int(code[1], 16) > sys.maxunicode:
            raise ValueError(
                f"Invalid pattern: {text}, error: invalid escape sequence: {text[at : at + 4]}"
            )
        return re.escape(chr(int(code[1], 16))), code.end()
    if char in "sS":
        if in_class:
            return (_SPACE if char == "s" else r"\S"), at + 2
        return (f"[{_SPACE}]" if char == "s" else f"[^{_SPACE}]"), at + 2
    translated = {"z": r"\Z", "A": r"\A", "C": "."}.get(char)
    if translated is None:
        letters = "abBdDfnrtvwWx0"
        translated = f"\\{char}" if char in letters or not char.isalnum() else None
    if translated is None:
        raise ValueError(f"Invalid pattern: {text}, error: invalid escape sequence: \\{char}")
    return translated, at + 2


def _outside(ranges: str) -> str:
    inside = re.compile(f"[{ranges}]")
    return _ranges([not inside.match(chr(code)) for code in range(128)]) + "\\x80-\U0010ffff"


@functools.cache
def _category(name: str, outside: bool) -> str:
    """Returns the characters of a general category, such as L or Lu, as a class without its brackets."""
    known = {unicodedata.category(chr(code)) for code in range(0x3000)}
    if name not in known | {one[0] for one in known}:
        raise ValueError(
            f"Invalid pattern: error: invalid character class range: \\p{{{name}}}: general categories such as L or Lu are "
            "known here, and no scripts. Write the range: [\\x{370}-\\x{3FF}]"
        )
    return _ranges(
        [
            unicodedata.category(chr(code)).startswith(name) != outside
            for code in range(sys.maxunicode + 1)
        ]
    )


def _ranges(inside: list[bool]) -> str:
    made, start = [], None
    for code, is_in in enumerate([*inside, False]):
        if is_in and start is None:
            start = code
        elif not is_in and start is not None:
            made.append(f"{_literal(start)}-{_literal(code - 1)}")
            start = None
    return "".join(made)


def _literal(code: int) -> str:
    return f"\\U{code:08x}"
