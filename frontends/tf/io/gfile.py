"""`tf.io.gfile`: files and folders by path, through `etils.epath`, and by URL in object stores, through fsspec.

Errors are Python's: `FileNotFoundError` where TensorFlow raises `NotFoundError`.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any, cast

from etils import epath

from frontends.tf._names import attributes, defined_in
from frontends.tf.io.binary_file import BinaryFile
from spmd.files import StorePath, is_url, plain
from spmd.typing import StrPath


def _path(path: StrPath | bytes) -> epath.Path | StorePath:
    """Makes a path; of bytes as well, which an estimator's export returns."""
    text = plain(os.fsdecode(path))
    return StorePath(text) if is_url(text) else epath.Path(text)


def GFile(name: StrPath, mode: str = "r") -> IO[Any]:
    """Opens a file; modes are those of `open`. A file that is written in a binary mode takes texts, too.

    What is written to a URL is there when the file is closed, and not before.

    Raises:
        OSError: it cannot be opened.

    Source: `tf.io.gfile.GFile`.
    """
    file = _path(name).open(mode)
    writes_bytes = "b" in mode and mode not in ("rb", "br")
    return cast("IO[Any]", BinaryFile(file)) if writes_bytes else file


def exists(path: StrPath) -> bool:
    """Tells whether there is a file or folder.

    Source: `tf.io.gfile.exists`.
    """
    return _path(path).exists()


def isdir(path: StrPath) -> bool:
    """Tells whether there is a folder.

    Source: `tf.io.gfile.isdir`.
    """
    return _path(path).is_dir()


def listdir(path: StrPath) -> list[str]:
    """Lists the names in a folder, sorted.

    Raises:
        OSError: there is no such folder.

    Source: `tf.io.gfile.listdir`.
    """
    return sorted(each.name for each in _path(path).iterdir())


def glob(pattern: StrPath | Sequence[StrPath]) -> list[str]:
    """Lists the paths that match a pattern, or several; sorted for each pattern.

    Examples:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> for name in ("b.txt", "a.txt"):
        ...     with GFile(join(folder, name), "w") as file:
        ...         _ = file.write("text")
        >>> [path[len(folder) + 1 :] for path in glob(join(folder, "*.txt"))]
        ['a.txt', 'b.txt']

    Source: `tf.io.gfile.glob`.
    """
    found: list[str] = []
    for one in [pattern] if isinstance(pattern, (str, os.PathLike)) else pattern:
        path = _path(one)
        if isinstance(path, StorePath):
            found += [each.url for each in path.matches()]
            continue
        base = epath.Path(path.anchor) if path.is_absolute() else epath.Path()
        found += sorted(map(os.fspath, base.glob(os.fspath(path)[len(path.anchor) :])))
    return found


def makedirs(path: StrPath) -> None:
    """Makes a folder and its parents; does nothing if it exists.

    What differs here: an object store has no folders of its own. There one exists while a file is in it, so this does
    nothing, and deleting one that does not exist is no error.

    Source: `tf.io.gfile.makedirs`.
    """
    _path(path).mkdir(parents=True, exist_ok=True)


def mkdir(path: StrPath) -> None:
    """Makes a folder.

    Raises:
        OSError: it exists, or its parent does not.

    Source: `tf.io.gfile.mkdir`.
    """
    _path(path).mkdir()


def remove(path: StrPath) -> None:
    """Deletes a file.

    Raises:
        OSError: there is none.

    Source: `tf.io.gfile.remove`.
    """
    _path(path).unlink()


def rmtree(path: StrPath) -> None:
    """Deletes a folder and all that is in it.

    Raises:
        OSError: there is none.

    Source: `tf.io.gfile.rmtree`.
    """
    _path(path).rmtree()


def rename(src: StrPath, dst: StrPath, overwrite: bool = False) -> None:
    """Moves a file or folder; in an object store it copies and deletes. Between a store and this machine, a file.

    Args:
        src: the old path.
        dst: the new path.
        overwrite: whether a file at the new path is replaced.

    Raises:
        FileExistsError: the new path exists.

    Source: `tf.io.gfile.rename`.
    """
    _make_way(dst, overwrite)
    source, target = _path(src), _path(dst)
    if isinstance(source, StorePath) and isinstance(target, StorePath):
        source.replace(target)
    elif isinstance(source, StorePath) or isinstance(target, StorePath):
        _copy(source, target)
        source.unlink()
    else:
        source.replace(target)


def copy(src: StrPath, dst: StrPath, overwrite: bool = False) -> None:
    """Copies a file, also from or to an object store.

    Args:
        src: the old path.
        dst: the new path.
        overwrite: whether a file at the new path is replaced.

    Raises:
        FileExistsError: the new path exists.

    Source: `tf.io.gfile.copy`.
    """
    _make_way(dst, overwrite)
    _copy(_path(src), _path(dst))


def stat(path: StrPath) -> Any:
    """Returns the size in bytes (`length`) and the kind (`is_directory`) of a file.

    Raises:
        OSError: there is none.

    Source: `tf.io.gfile.stat`.
    """
    return _path(path).stat()


def walk(
    top: StrPath,
    topdown: bool = True,
    onerror: Callable[[OSError], object] | None = None,
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Walks a folder, as `os.walk` does.

    Source: `tf.io.gfile.walk`.
    """
    path = _path(top)
    return path.walk(topdown) if isinstance(path, StorePath) else os.walk(path, topdown, onerror)


def join(path: StrPath, *paths: StrPath) -> str:
    """Joins parts of a path.

    Examples:
        >>> join("data", "train", "1.txt")
        'data/train/1.txt'

    Source: `tf.io.gfile.join`.
    """
    return os.fspath(_path(path).joinpath(*paths))


def _copy(source: epath.Path | StorePath, target: epath.Path | StorePath) -> None:
    if isinstance(source, StorePath):
        source.copy(target)
    elif isinstance(target, StorePath):
        target.upload(os.fspath(source))
    else:
        source.copy(target, overwrite=True)


def _make_way(path: StrPath, overwrite: bool) -> None:
    if exists(path) and not overwrite:
        raise FileExistsError(f"{path} already exists. Pass overwrite=True, or another name.")


__getattr__, __dir__ = attributes("tf.io.gfile", defined_in(__name__))
