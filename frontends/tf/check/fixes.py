"""Scripts with their import lines changed: the only lines that `jaxtribute check --fix` changes."""

import ast
import dataclasses
import itertools
import json
from collections.abc import Iterable
from typing import Any

from frontends.tf.check.imports import Imported, modules_in
from frontends.tf.check.sources import Source, cells_of
from frontends.tf.check.uses import Import, Uses

# Packages that import Keras, which takes the backend that is chosen by then.
IMPORT_KERAS = frozenset(("keras", "keras_cv", "keras_hub", "keras_nlp", "keras_rs", "keras_tuner"))


@dataclasses.dataclass(frozen=True)
class Change:
    """An import statement to change.

    Attributes:
        line: where the statement begins, from 1.
        end: the line where it ends.
        start_byte: where it begins in its first line, in bytes of UTF-8.
        end_byte: where it ends in its last line.
        old: the statement.
        new: what to write for it.
    """

    line: int
    end: int
    start_byte: int
    end_byte: int
    old: str
    new: str


def changes_in(text: str, script: Uses) -> list[Change]:
    r"""Lists the import statements to change in a script.

    Args:
        text: of the script.
        script: what it uses.

    Examples:
        >>> from frontends.tf.check.uses import uses_in
        >>> text = "import numpy as np, tensorflow as tf"
        >>> [one.new for one in changes_in(text, uses_in(text))]
        ['import numpy as np\nfrom frontends import tf']
    """
    lines = text.split("\n")
    changes = [change for each in script.imports if (change := _change(lines, each)) is not None]
    early = _early_keras(script)
    return changes if early is None else [_with_tf_before(lines, early), *changes]


def changed(text: str, changes: Iterable[Change]) -> str:
    r"""Makes the changes.

    Args:
        text: of the script.
        changes: to make in it.

    Examples:
        >>> from frontends.tf.check.uses import uses_in
        >>> text = "import tensorflow as tf  # 2.x\n"
        >>> changed(text, changes_in(text, uses_in(text)))
        'from frontends import tf  # 2.x\n'
    """
    lines = text.split("\n")
    for change in sorted(changes, key=lambda one: (one.line, one.start_byte), reverse=True):
        before = lines[change.line - 1].encode()[: change.start_byte].decode()
        after = lines[change.end - 1].encode()[change.end_byte :].decode()
        new = f"{before}{change.new}{after}".split("\n")
        lines[change.line - 1 : change.end] = new
    return "\n".join(lines)


def changed_file(source: Source, changes: Iterable[Change]) -> str:
    """Writes the whole file, a script or a notebook, with the changes made.

    Args:
        source: the file.
        changes: to make in its code.
    """
    if source.notebook is None or source.layout is None:
        return changed(source.text, changes)
    notebook: dict[str, Any] = json.loads(json.dumps(source.notebook))
    by_cell: dict[int, list[Change]] = {}
    for change in changes:
        cell, inner = source.cells[change.line - 1]
        moved = dataclasses.replace(change, line=inner, end=inner + change.end - change.line)
        by_cell.setdefault(cell, []).append(moved)
    for number, text in list(cells_of(notebook)):
        if number in by_cell:
            cell = notebook["cells"][number - 1]
            new = changed(text, by_cell[number])
            cell["source"] = new if isinstance(cell["source"], str) else new.splitlines(True)
    return source.layout.write(notebook)


def _change(lines: list[str], each: Import) -> Change | None:
    node = each.statement
    if not any(one is not None and one.module for one in each.names):
        return None
    old = _written(lines, node)
    new = _with_module(old, node, each.names) or _written_anew(lines, node, each.names)
    return None if new == old else _change_of(node, old, new)


def stands_before(node: ast.stmt, line: int) -> bool:
    """Tells whether a statement stands by itself, above a line, so that another one can be put before it."""
    return node.col_offset == 0 and node.lineno < line


def _early_keras(script: Uses) -> ast.Import | ast.ImportFrom | None:
    """Finds the first import of Keras, or of what imports it, before one of `tf`: Keras would look for TensorFlow.

    None if there is none, or only within another statement or line.
    """
    first = min((one.statement.lineno for one in script.imports), default=0)
    for node in script.nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            roots = {name[0] for level, name in modules_in([node]) if not level}
            if "frontends" in roots:
                return None
            if stands_before(node, first) and roots & IMPORT_KERAS:
                return node
    return None


def _with_tf_before(lines: list[str], node: ast.Import | ast.ImportFrom) -> Change:
    old = _written(lines, node)
    return _change_of(node, old, f"import frontends.tf\n{old}")


def _written(lines: list[str], node: ast.Import | ast.ImportFrom) -> str:
    """The statement as it stands in the script."""
    whole = lines[node.lineno - 1 : node.end_lineno]
    whole[-1] = whole[-1].encode()[: node.end_col_offset].decode()
    whole[0] = whole[0].encode()[node.col_offset :].decode()
    return "\n".join(whole)


def _change_of(node: ast.Import | ast.ImportFrom, old: str, new: str) -> Change:
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return Change(node.lineno, node.end_lineno, node.col_offset, node.end_col_offset, old, new)


def _with_module(
    old: str, node: ast.Import | ast.ImportFrom, names: Iterable[Imported | None]
) -> str | None:
    """Changes the module alone, so that lines and comments stay, if nothing else has to change."""
    if not isinstance(node, ast.ImportFrom) or node.module is None:
        return None
    modules = {one.module if one is not None else None for one in names}
    module = next(iter(modules))
    same = all(
        one is not None and one.name == alias.name
        for one, alias in zip(names, node.names, strict=True)
    )
    if len(modules) > 1 or module is None or not same:
        return None
    return old.replace(node.module, module, 1)


def _written_anew(
    lines: list[str], node: ast.Import | ast.ImportFrom, names: Iterable[Imported | None]
) -> str:
    def statement_of(pair: tuple[ast.alias, Imported | None]) -> str:
        one = pair[1]
        if one is not None and one.module is not None:
            return f"from {one.module} import"
        if isinstance(node, ast.Import):
            return "import"
        return f"from {'.' * node.level}{node.module or ''} import"

    def written(alias: ast.alias, one: Imported | None) -> str:
        return one.written if one is not None and one.module is not None else ast.unparse(alias)

    pairs = list(zip(node.names, names, strict=True))
    statements = [
        f"{head} {', '.join(written(*pair) for pair in group)}"
        for head, group in itertools.groupby(pairs, key=statement_of)
    ]
    indent = lines[node.lineno - 1].encode()[: node.col_offset].decode()
    assert node.end_lineno is not None
    rest = lines[node.end_lineno - 1].encode()[node.end_col_offset :].decode().strip()
    is_alone = not indent.strip() and not rest.startswith(";")
    return (f"\n{indent}" if is_alone else "; ").join(statements)
