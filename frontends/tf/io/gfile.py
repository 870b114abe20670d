"""`tf.io.gfile`: files and folders by path, through `etils.epath`, which knows buckets as well.

Errors are Python's: `FileNotFoundError` where TensorFlow raises `NotFoundError`.
"""

import os
from collections.abc import Iterator
from typing import IO, Any

from etils import epath

from frontends.tf._names import attributes


def GFile(name: Any, mode: str = "r") -> IO[Any]:
    """Opens a file.

    Args:
        name: its path.
        mode: as for `open`.

    Raises:
        OSError: it cannot be opened.

    Source: `tf.io.gfile.GFile`.
    """
    return epath.Path(name).open(mode)


def exists(path: Any) -> bool:
    """Tells whether there is a file or folder.

    Args:
        path: where.

    Source: `tf.io.gfile.exists`.
    """
    return epath.Path(path).exists()


def isdir(path: Any) -> bool:
    """Tells whether there is a folder.

    Args:
        path: where.

    Source: `tf.io.gfile.isdir`.
    """
    return epath.Path(path).is_dir()


def listdir(path: Any) -> list[str]:
    """Lists what is in a folder, by name.

    Args:
        path: the folder.

    Returns:
        The names, sorted.

    Raises:
        OSError: there is no such folder.

    Source: `tf.io.gfile.listdir`.
    """
    return sorted(each.name for each in epath.Path(path).iterdir())


def glob(pattern: Any) -> list[str]:
    """Finds paths by a pattern, or by several.

    Args:
        pattern: such as `"data/*.tfrecord"`, or a list of them.

    Returns:
        The paths, sorted for each pattern.

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
    for one in pattern if isinstance(pattern, (list, tuple)) else [pattern]:
        path = epath.Path(one)
        base = epath.Path(path.anchor) if path.is_absolute() else epath.Path()
        found += sorted(map(os.fspath, base.glob(os.fspath(path)[len(path.anchor) :])))
    return found


def makedirs(path: Any) -> None:
    """Makes a folder and those that it is in; one that is there is fine.

    Args:
        path: the folder.

    Source: `tf.io.gfile.makedirs`.
    """
    epath.Path(path).mkdir(parents=True, exist_ok=True)


def mkdir(path: Any) -> None:
    """Makes a folder in one that is there.

    Args:
        path: the folder.

    Raises:
        OSError: it is there, or has no parent.

    Source: `tf.io.gfile.mkdir`.
    """
    epath.Path(path).mkdir()


def remove(path: Any) -> None:
    """Deletes a file.

    Args:
        path: the file.

    Raises:
        OSError: there is none.

    Source: `tf.io.gfile.remove`.
    """
    epath.Path(path).unlink()


def rmtree(path: Any) -> None:
    """Deletes a folder and all in it.

    Args:
        path: the folder.

    Raises:
        OSError: there is none.

    Source: `tf.io.gfile.rmtree`.
    """
    epath.Path(path).rmtree()


def rename(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Moves a file or folder.

    Args:
        src: where it is.
        dst: where it goes.
        overwrite: whether a file there is replaced.

    Raises:
        FileExistsError: something is there.

    Source: `tf.io.gfile.rename`.
    """
    _make_way(dst, overwrite)
    epath.Path(src).replace(dst)


def copy(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Copies a file.

    Args:
        src: where it is.
        dst: where it goes.
        overwrite: whether a file there is replaced.

    Raises:
        FileExistsError: something is there.

    Source: `tf.io.gfile.copy`.
    """
    _make_way(dst, overwrite)
    epath.Path(src).copy(dst, overwrite=True)


def stat(path: Any) -> Any:
    """Tells size, time of change and kind of a file.

    Args:
        path: the file.

    Returns:
        An object with `length` in bytes and `is_directory`.

    Raises:
        OSError: there is none.

    Source: `tf.io.gfile.stat`.
    """
    return epath.Path(path).stat()


def walk(
    top: Any, topdown: bool = True, onerror: Any = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Goes through a folder of this machine and all in it, as `os.walk`.

    Args:
        top: the folder.
        topdown: whether a folder comes before those in it.
        onerror: called with errors; None ignores them.

    Source: `tf.io.gfile.walk`.
    """
    return os.walk(top, topdown, onerror)


def join(path: Any, *paths: Any) -> str:
    """Joins parts of a path.

    Args:
        path: the first part.
        *paths: the others.

    Examples:
        >>> join("data", "train", "1.txt")
        'data/train/1.txt'

    Source: `tf.io.gfile.join`.
    """
    return os.fspath(epath.Path(path).joinpath(*paths))


def _make_way(path: Any, overwrite: bool) -> None:
    if exists(path) and not overwrite:
        raise FileExistsError(f"{path} is there already. Give overwrite=True, or another name.")


__all__ = [
    "GFile",
    "copy",
    "exists",
    "glob",
    "isdir",
    "join",
    "listdir",
    "makedirs",
    "mkdir",
    "remove",
    "rename",
    "rmtree",
    "stat",
    "walk",
]

__getattr__, __dir__ = attributes("tf.io.gfile", {}, present=__all__)
