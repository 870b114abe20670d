"""How a JSON file is laid out, so that a changed one differs from it only where it was changed."""

import dataclasses
import json
import re
from typing import Any

_FIRST_INDENT = re.compile(r"\s*[{\[]\r?\n([ \t]*)")
_FIRST_KEY = re.compile(r'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:(\s?)')


@dataclasses.dataclass(frozen=True)
class Layout:
    """The layout of a JSON file.

    Attributes:
        indent: blanks for each level; None if everything stands on one line.
        has_blanks: whether a blank follows a colon, and on one line a comma.
        is_ascii: whether other characters are written as escapes.
        line_end: of each line.
        end: what follows the value.
    """

    indent: str | None
    has_blanks: bool
    is_ascii: bool
    line_end: str
    end: str

    def write(self, value: Any) -> str:
        r"""Writes a value.

        Args:
            value: that JSON can hold.

        Examples:
            >>> layout_of('{"a":1}\n').write({"a": [1, "ü"]})
            '{"a":[1,"\\u00fc"]}\n'
        """
        text = json.dumps(
            value,
            indent=self.indent,
            ensure_ascii=self.is_ascii,
            separators=(
                ", " if self.has_blanks and self.indent is None else ",",
                ": " if self.has_blanks else ":",
            ),
        )
        # A line's end within a text is an escape: those that are left are the layout's.
        return text.replace("\n", self.line_end) + self.end


def layout_of(text: str) -> Layout:
    r"""Finds out how a file is laid out, from its first lines.

    Args:
        text: of the file.

    Examples:
        >>> layout_of('{\n  "a": 1\n}').indent
        '  '
    """
    indent = _FIRST_INDENT.match(text)
    key = _FIRST_KEY.match(text)
    return Layout(
        indent=None if indent is None else indent[1],
        has_blanks=key is None or bool(key[1]),
        is_ascii=text.isascii(),
        line_end="\r\n" if "\r\n" in text else "\n",
        end=text[len(text.rstrip()) :],
    )
