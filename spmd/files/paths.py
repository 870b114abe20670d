"""One kind of path for both: what `pathlib.Path` and `StorePath` have in common."""

import glob
import os
from pathlib import Path
from typing import IO

from spmd.files.store_path import StorePath
from spmd.files.urls import is_url, plain
from spmd.typing import StrPath


def path_of(path: StrPath) -> Path | StorePath:
    """Returns a path with methods: a `StorePath` for a URL.

    Examples:
        >>> path_of("memory://bucket/a"), path_of("runs").name
        (StorePath('memory://bucket/a'), 'runs')
    """
    text = plain(path)
    return StorePath(text) if is_url(text) else Path(text)


def matching(pattern: str) -> list[str]:
    """Lists the paths that match a pattern, which may be that of a URL.

    Examples:
        >>> StorePath("memory://docs/1.txt").write_text("one")
        >>> matching("memory://docs/*.txt"), matching("none/*.txt")
        (['memory://docs/1.txt'], [])
    """
    text = plain(pattern)
    return [each.url for each in StorePath(text).matches()] if is_url(text) else glob.glob(text)


def reads(path: StrPath) -> IO[bytes]:
    """Opens a file to read it: any that `open` opens, or one in a store.

    Raises:
        OSError: it cannot be opened.
    """
    text = plain(path)
    return StorePath(text).open("rb") if is_url(text) else open(os.fspath(text), "rb")
