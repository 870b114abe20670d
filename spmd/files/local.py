"""Files and folders of object stores for code that reads and writes only on this machine."""

import contextlib
import tempfile
from collections.abc import Generator
from pathlib import Path

from spmd.files.store_path import StorePath
from spmd.files.urls import is_url, plain
from spmd.typing import StrPath


@contextlib.contextmanager
def written_here(path: StrPath) -> Generator[str]:
    """Yields a path on this machine to write a file or a folder to; for a URL, it is copied there when it is complete.

    Args:
        path: where it is to be; if that is on this machine, it is what is yielded.

    Raises:
        OSError: it cannot be copied.

    Examples:
        >>> with written_here("memory://docs/written/a.txt") as file:
        ...     _ = Path(file).write_text("one")
        >>> StorePath("memory://docs/written/a.txt").read_text()
        'one'
    """
    text = plain(path)
    if not is_url(text):
        yield text
        return
    target = StorePath(text)
    with tempfile.TemporaryDirectory(prefix="jaxtribute-") as folder:
        made = Path(folder, target.name)
        yield str(made)
        if made.is_file():
            target.upload(str(made))
        for file in sorted(made.rglob("*")):
            if file.is_file():
                target.joinpath(file.relative_to(made)).upload(str(file))


@contextlib.contextmanager
def read_here(path: StrPath) -> Generator[str]:
    """Yields a path on this machine where a file or a folder is; for a URL, that of a copy.

    Raises:
        OSError: it cannot be read, or there is none.

    Examples:
        >>> import os
        >>> StorePath("memory://docs/read/a.txt").write_text("one")
        >>> with read_here("memory://docs/read") as folder:
        ...     os.listdir(folder)
        ['a.txt']
    """
    text = plain(path)
    if not is_url(text):
        yield text
        return
    source = StorePath(text)
    with tempfile.TemporaryDirectory(prefix="jaxtribute-") as folder:
        copy = Path(folder, source.name)
        if source.is_dir():
            copy.mkdir()
            for name in source.files():
                copy.joinpath(name).parent.mkdir(parents=True, exist_ok=True)
                source.joinpath(name).download(str(copy / name))
        else:
            source.download(str(copy))
        yield str(copy)
