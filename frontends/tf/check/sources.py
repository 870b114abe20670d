"""Scripts and notebooks as text that Python can parse, with the places of its lines.

A *place* is a line of a script, or a cell of a notebook and a line in it.
"""

import ast
import dataclasses
import json
import os
import re
import tokenize
from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

from frontends.tf.check.json_layout import Layout, layout_of

_SUFFIXES = (".py", ".ipynb")
# Folders that hold other people's code, or copies.
_SKIPPED = {"__pycache__", "node_modules", "site-packages", "build", "dist"}
# What IPython takes for a magic, for the shell, or for help.
_MAGIC = re.compile(r"\s*([%!]|\?|[\w.]+\s*=\s*[%!]|[\w.]+\?{1,2}\s*$)")
# First lines of cells that Python runs all the same, and of those that write a module.
_RUN_BY_PYTHON = re.compile(r"\s*%%(time|timeit|capture|prun)\b")
_WRITES_MODULE = re.compile(r"\s*%%(writefile|file)\s.*\.py[\"']?\s*$")


class UnreadableError(Exception):
    """A file that is no Python and no notebook."""


@dataclasses.dataclass(frozen=True)
class Source:
    """What Python runs of a file.

    Attributes:
        path: of the file.
        text: the code; of a notebook all cells, one behind the other.
        cells: of a notebook, the number of each line's cell, and the line in it.
        notebook: what the file of a notebook holds.
        layout: of that file.
        encoding: of the file.
    """

    path: Path
    text: str
    cells: tuple[tuple[int, int], ...] = ()
    notebook: dict[str, Any] | None = None
    layout: Layout | None = None
    encoding: str = "utf-8"

    def place(self, line: int) -> str:
        """Names a line, for people.

        Args:
            line: of `text`, from 1.

        Examples:
            >>> Source(Path("a.py"), "x").place(1)
            '1'
            >>> Source(Path("a.ipynb"), "x", cells=((3, 1),)).place(1)
            'cell 3, 1'
        """
        if not self.cells:
            return str(line)
        cell, inner = self.cells[min(line, len(self.cells)) - 1]
        return f"cell {cell}, {inner}"


def files_in(paths: Iterable[Path]) -> Iterator[Path]:
    """Lists scripts and notebooks: those that are named, and all in the folders that are named.

    Args:
        paths: of files and folders, which exist. Hidden folders, virtual environments and folders of copies are skipped.
    """
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        for folder, names in folders_in(path):
            yield from (folder / name for name in names if name.endswith(_SUFFIXES))


def folders_in(path: Path) -> Iterator[tuple[Path, list[str]]]:
    """Lists the folders of a project, and the names of the files in each.

    Args:
        path: of the project's folder. Hidden folders, virtual environments and folders of copies are skipped.
    """
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(
            name
            for name in folders
            if name not in _SKIPPED
            and not name.startswith(".")
            and not (Path(folder) / name / "pyvenv.cfg").exists()
        )
        yield Path(folder), sorted(names)


def read(path: Path) -> Source:
    """Reads a script or a notebook.

    Args:
        path: of the file.

    Raises:
        UnreadableError: it cannot be decoded, or is no notebook.
        OSError: it cannot be read.
    """
    data = path.read_bytes()
    if path.suffix == ".ipynb":
        return _notebook(path, data)
    try:
        encoding, _ = tokenize.detect_encoding(BytesIO(data).readline)
        return Source(path, data.decode(encoding), encoding=encoding)
    except (SyntaxError, UnicodeDecodeError, LookupError) as error:
        raise UnreadableError(f"not text that Python can read: {error}") from None


def cells_of(notebook: dict[str, Any]) -> Iterator[tuple[int, str]]:
    """Lists the code of a notebook: the number of each cell, counted from 1, and its text.

    Args:
        notebook: what the file holds.
    """
    for number, cell in enumerate(notebook.get("cells", ()), 1):
        if cell.get("cell_type") == "code":
            source = cell.get("source", "")
            yield (
                number,
                _as_ipython_takes_it(source if isinstance(source, str) else "".join(source)),
            )


def _notebook(path: Path, data: bytes) -> Source:
    try:
        encoding = json.detect_encoding(data)
        file = data.decode(encoding)
        notebook = json.loads(file)
        if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
            raise ValueError("it has no cells (format 4 has)")
    except ValueError as error:
        raise UnreadableError(f"not a notebook: {error}") from None
    lines: list[str] = []
    places: list[tuple[int, int]] = []
    for number, text in cells_of(notebook):
        inner = text.split("\n")
        lines += _python_of(inner)
        places += [(number, line) for line in range(1, len(inner) + 1)]
    text = "\n".join(lines) + "\n"
    return Source(path, text, tuple(places), notebook, layout_of(file), encoding)


def _as_ipython_takes_it(cell: str) -> str:
    """Takes the blanks before a cell's first line off all lines that begin with them."""
    lines = cell.split("\n")
    first = next((line for line in lines if line.strip()), "")
    blanks = first[: len(first) - len(first.lstrip())]
    return "\n".join(line.removeprefix(blanks) for line in lines)


def _python_of(cell: list[str]) -> list[str]:
    """Replaces what is no Python in a cell by as many lines that do nothing."""
    start = next((number for number, line in enumerate(cell) if line.strip()), 0)
    first, rest = cell[start], cell[start + 1 :]
    if not first.lstrip().startswith("%%"):
        return _without_magics(cell)
    nothing = ["pass"] * (start + 1)
    if _RUN_BY_PYTHON.match(first):
        return [*nothing, *_without_magics(rest)]
    if _WRITES_MODULE.match(first) and _parses(rest):
        return [*nothing, *rest]
    return ["pass"] * len(cell)


def _parses(lines: list[str]) -> bool:
    try:
        ast.parse("\n".join(lines))
    except (SyntaxError, ValueError):
        return False
    return True


def _without_magics(lines: list[str]) -> list[str]:
    """Replaces what only IPython understands by as many lines that do nothing."""
    replaced: list[str] = []
    read = _Read()

    def python() -> Iterator[str]:
        goes_on = False
        indent = ""
        for line in lines:
            # A `%` that begins a line within a statement or a text is no magic.
            is_magic = goes_on or (
                _MAGIC.match(line) is not None and not read.is_open(len(replaced))
            )
            if not goes_on:
                indent = line[: len(line) - len(line.lstrip())]
            goes_on = is_magic and line.endswith("\\")
            replaced.append(f"{indent}pass" if is_magic else line)
            yield f"{replaced[-1]}\n"

    # The tokenizer asks for a line when it has read the one before: each is read once.
    text = python()
    try:
        for token in tokenize.generate_tokens(text.__next__):
            read.add(token)
    except (tokenize.TokenError, SyntaxError):
        read.has_failed = True
    for _ in text:  # what follows an error
        pass
    return replaced


@dataclasses.dataclass
class _Read:
    """What a tokenizer has read.

    Attributes:
        brackets: that are open.
        end: the last line that has an end, from 1: none has within a text, or behind a backslash.
        has_failed: whether it cannot go on.
    """

    brackets: int = 0
    end: int = 0
    has_failed: bool = False

    def is_open(self, line: int) -> bool:
        """Tells whether a line that was read ends within a statement or a text."""
        return not self.has_failed and (self.brackets > 0 or self.end < line)

    def add(self, token: tokenize.TokenInfo) -> None:
        if token.type == tokenize.OP:
            change = (token.string in "([{") - (token.string in ")]}")
            self.brackets = max(0, self.brackets + change)
        elif token.type in (tokenize.NEWLINE, tokenize.NL):
            self.end = token.start[0]
