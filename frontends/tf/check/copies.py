"""Changed scripts, which `jaxtribute check --fix` writes: in place, beside the script, or in a copy of the whole project.

A project is copied whole, because its modules import each other by their names: in the copy, these are the changed ones. A
folder that is a package keeps its name in the copy, since its modules may import each other through it:

    net/train.py        of a folder of scripts      ->  net_jaxtribute/train.py
    net/__init__.py     of a package                ->  net_jaxtribute/net/__init__.py
"""

import dataclasses
import shutil
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from frontends.tf.check.fixes import changed_file
from frontends.tf.check.own_modules import own_modules
from frontends.tf.check.report import Report
from frontends.tf.check.sources import folders_in

_MARK = "_jaxtribute"
# Data that lies beside scripts: copying it would take minutes, and a disk's room.
_LARGE = 16 * 2**20


def copy_of(path: Path) -> Path:
    """Gives the name of a copy.

    Args:
        path: of a script, or of the folder of a project.

    Examples:
        >>> copy_of(Path("models/train.py")).as_posix()
        'models/train_jaxtribute.py'
    """
    if not path.is_dir():
        return path.with_stem(path.stem + _MARK)
    folder = path.resolve()
    copy = folder.with_name(folder.name + _MARK)
    return copy / folder.name if _is_package(folder) else copy


def problem_with(path: Path) -> str:
    """Says why a path cannot be copied; nothing if it can.

    Args:
        path: of a script, or of the folder of a project.
    """
    folder = path.resolve()
    if not path.is_dir() or not _is_package(folder) or not _is_package(folder.parent):
        return ""
    root = folder.parent
    while _is_package(root.parent):
        root = root.parent
    return f"{path} is a part of the package {root.name}, whose modules import each other: name {root}, or use --in-place"


def write_in_place(reports: Iterable[Report]) -> int:
    """Changes the files themselves; returns the exit status.

    Args:
        reports: of the files.
    """
    for report in reports:
        if report.changes:
            report.path.write_bytes(_changed(report))
            _tell(f"wrote {report.path}")
    return 0


def write_script(report: Report, force: bool) -> int:
    """Writes the copy of a script beside it; returns the exit status.

    Args:
        report: of the script.
        force: whether a file that has the copy's name is replaced.
    """
    if not report.changes:
        return 0
    target = copy_of(report.path)
    if not _write(target, _changed(report), force):
        return 2
    _tell(f"wrote {target}")
    with_tensorflow = [
        path.name for path in own_modules(report) if b"tensorflow" in path.read_bytes()
    ]
    if with_tensorflow:
        _tell(
            f"jaxtribute check: {target} imports {', '.join(with_tensorflow)}, which uses TensorFlow and has not changed: "
            f"jaxtribute check --fix {report.path.parent} copies the whole folder"
        )
    return 0


def write_project(folder: Path, reports: Mapping[Path, Report], force: bool) -> int:
    """Writes the copy of a project: all its files, the scripts and notebooks changed; returns the exit status.

    Args:
        folder: of the project.
        reports: by the path of the file.
        force: whether files that are in the copy already are replaced.
    """
    target = copy_of(folder)
    count = _Count()
    for inner, names in folders_in(folder):
        into = target / inner.relative_to(folder)
        into.mkdir(parents=True, exist_ok=True)
        for name in names:
            try:
                _copy(inner / name, into / name, reports.get(inner / name), force, count)
            except OSError as error:
                _tell(f"jaxtribute check: {error}: {inner / name} is not in the copy")
                count.kept += 1
        for path in sorted(inner.iterdir()):
            if path.is_symlink() and path.is_dir() and not path.name.startswith("."):
                _tell(
                    f"jaxtribute check: {path} leads to a folder, and is not in the copy: link it there"
                )
    for path in count.large:
        _tell(f"jaxtribute check: {path} is large, and is not in the copy: link it there")
    _tell(
        f"wrote {target}: {count.files} file{'s' * (count.files != 1)}, {count.changed} of them changed. "
        f"Run them from {target.parent if _is_package(folder) else target}"
    )
    return 2 if count.kept else 0


@dataclasses.dataclass
class _Count:
    """What became of a project's files."""

    files: int = 0
    changed: int = 0
    kept: int = 0
    large: list[Path] = dataclasses.field(default_factory=list)


def _copy(path: Path, target: Path, report: Report | None, force: bool, count: _Count) -> None:
    is_changed = report is not None and bool(report.changes)
    if not path.is_file():  # a socket, or a link to what is gone
        return
    if not is_changed and path.stat().st_size > _LARGE:
        count.large.append(path)
        return
    data = _changed(report) if report is not None and is_changed else path.read_bytes()
    if not _write(target, data, force):
        count.kept += 1
        return
    shutil.copymode(path, target)
    count.files += 1
    count.changed += is_changed


def _write(target: Path, data: bytes, force: bool) -> bool:
    """Writes a file, unless another one is there that would be lost."""
    if target.exists():
        if target.read_bytes() == data:  # it may be read-only, as its original
            return True
        if not force:
            _tell(
                f"jaxtribute check: {target} exists, and is not what would be written: it stays. "
                "--force replaces it; --in-place changes the file itself"
            )
            return False
    target.write_bytes(data)
    return True


def _changed(report: Report) -> bytes:
    assert report.source is not None
    # Bytes, so that the ends of lines stay what they are.
    return changed_file(report.source, report.changes).encode(report.source.encoding)


def _is_package(folder: Path) -> bool:
    return (folder / "__init__.py").is_file()


def _tell(text: str) -> None:
    print(text, file=sys.stderr)
