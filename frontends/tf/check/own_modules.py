"""Modules of a script's own project, which it imports: those that lie beside it, or in its packages."""

import ast
from collections.abc import Iterator
from pathlib import Path

from frontends.tf.check.report import Report


def own_modules(report: Report) -> list[Path]:
    """Lists the files of a script's folder, and of the folders in it, that the script imports.

    Args:
        report: of the script.
    """
    if report.source is None:
        return []
    found = (
        _file(report.path.parent, module) for module in _imported(ast.parse(report.source.text))
    )
    return list(dict.fromkeys(path for path in found if path is not None))


def _imported(tree: ast.Module) -> Iterator[tuple[str, ...]]:
    """Gives what is imported, as paths of names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (tuple(alias.name.split(".")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level <= 1:
            module = tuple(node.module.split(".")) if node.module else ()
            yield from ((*module, alias.name) for alias in node.names)


def _file(folder: Path, module: tuple[str, ...]) -> Path | None:
    """Finds the file of a module, or of the module that has the name."""
    for length in (len(module), len(module) - 1):
        path = folder.joinpath(*module[:length])
        if length and path.with_suffix(".py").is_file():
            return path.with_suffix(".py")
        if length and (path / "__init__.py").is_file():
            return path / "__init__.py"
    return None
