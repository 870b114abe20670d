"""Modules of a script's own project, which it imports: those that lie beside it, or in its packages."""

import contextlib
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from frontends.tf.check.imports import Module, modules_in
from frontends.tf.check.report import Report
from frontends.tf.check.uses import parsed


def own_modules(report: Report, project: Collection[Path] | None = None) -> list[Path]:
    """Lists the files of a script's project that the script imports.

    Args:
        report: of the script.
        project: its files, as resolved paths; without them, those of the script's folder, and of the folders in it.
    """
    modules = tuple(_modules_of(report)) if report.modules is None else report.modules
    if project is None:
        folders, is_file = [report.path.parent], Path.is_file
    else:
        path = report.path.resolve()
        folders, is_file = list(path.parents), project.__contains__
    found = (
        _first(folders[level - 1 : level] if level else folders, module, is_file)
        for level, module in modules
    )
    return list(dict.fromkeys(path for path in found if path is not None))


def _modules_of(report: Report) -> Iterator[Module]:
    """Gives what a script imports that was not parsed, since it has no TensorFlow, or that Python cannot read."""
    if report.source is not None:
        with contextlib.suppress(SyntaxError, ValueError, RecursionError):
            yield from modules_in(parsed(report.source.text)[1])


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
