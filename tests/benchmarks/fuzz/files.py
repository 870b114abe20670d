"""Watches which files a program opens, makes, changes and removes."""

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# The events of Python's audit that change files, and how many of their first arguments are paths.
_CHANGES = {
    **{"os.mkdir": 1, "os.rename": 2, "os.remove": 1, "os.rmdir": 1, "os.symlink": 2, "os.link": 2},
    **{"os.truncate": 1, "os.chmod": 1, "os.chown": 1, "os.utime": 1, "os.setxattr": 1},
}
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

_watching: list["Touched"] = []
_is_installed = False


class Touched:
    """Paths that this process has touched since: those that it changed, and those that it read."""

    def __init__(self) -> None:
        self.changed: set[str] = set()
        self.read: set[str] = set()

    def outside(self, folder: Path, *, reads: bool) -> list[str]:
        """Lists the paths outside of a folder; of those that were only read, the ones that are no part of Python."""
        paths = {path for path in self.changed if path != os.devnull}
        if reads:
            # Modules, the machine's own tables.
            own = (sys.prefix, sys.base_prefix, str(Path(__file__).parents[3]), "/proc/", "/sys/")
            paths |= {path for path in self.read if not path.startswith((*own, "/etc/", "/usr/"))}
        inside = os.path.realpath(folder)
        return sorted(
            p for p in paths if os.path.commonpath((inside, os.path.realpath(p))) != inside
        )


@contextlib.contextmanager
def watched() -> Iterator[Touched]:
    """Watches for a `with` block; sees what Python does, not what libraries in C++ do by themselves."""
    global _is_installed
    if not _is_installed:
        _is_installed = True
        sys.addaudithook(_hear)
    touched = Touched()
    _watching.append(touched)
    try:
        yield touched
    finally:
        _watching.remove(touched)


def listed(folder: Path) -> dict[str, tuple[int, int]]:
    """Lists all files of a folder, with sizes and times."""
    found = {}
    for path in sorted(folder.rglob("*")):
        with contextlib.suppress(FileNotFoundError):
            what = path.lstat()
            found[str(path.relative_to(folder))] = what.st_size, what.st_mtime_ns
    return found


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    if not _watching:
        return
    if event == "open":
        path, _, flags = arguments
        paths, is_change = [path], bool((flags or 0) & _WRITES)
    elif event in _CHANGES:
        paths, is_change = arguments[: _CHANGES[event]], True
    else:
        return
    for path in paths:
        if isinstance(path, (str, bytes)):
            text = os.path.abspath(os.fsdecode(path))
            for touched in _watching:
                (touched.changed if is_change else touched.read).add(text)
