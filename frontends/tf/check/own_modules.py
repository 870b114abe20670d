"""Modules of a script's own project, which it imports: those that lie beside it, or in its packages."""

import ast
import warnings
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from frontends.tf.check.report import Report


def own_modules(report: Report, project: Collection[Path] | None = None) -> list[Path]:
    """Lists the files of a script's project that the script imports.

    Args:
        report: of the script.
        project: its files, as resolved paths; without them, those of the script's folder, and of the folders in it.
    """
    if report.source is None:
        return []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of invalid escapes
            tree = ast.parse(report.source.text)
    except (SyntaxError, ValueError, RecursionError):
        return []
    if project is None:
        folders, is_file = [report.path.parent], Path.is_file
    else:
        path = report.path.resolve()
        folders, is_file = list(path.parents), project.__contains__
    found = (
        _first(folders[level - 1 : level] if level else folders, module, is_file)
        for level, module in _imported(tree)
    )
    return list(dict.fromkeys(path for path in found if path is not None))


def _imported(tree: ast.Module) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Gives what is imported, as paths of names, and how many dots stand before them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((0, tuple(alias.name.split("."))) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = tuple(node.module.split(".")) if node.module else ()
            yield from ((node.level, (*module, alias.name)) for alias in node.names)


def _first(
    folders: list[Path], module: tuple[str, ...], is_file: Callable[[Path], bool]
) -> Path | None:
    """Finds the file of a module in the first folder that has one."""
    return next((file for each in folders if (file := _file(each, module, is_file))), None)


def _file(folder: Path, module: tuple[str, ...], is_file: Callable[[Path], bool]) -> Path | None:
    """Finds the file of a module, or of the module that has the name."""
    for length in (len(module), len(module) - 1):
        path = folder.joinpath(*module[:length])
        if length and is_file(path.with_suffix(".py")):
            return path.with_suffix(".py")
        if length and is_file(path / "__init__.py"):
            return path / "__init__.py"
    return None
