"""Whole files as texts, and names of files by patterns."""

import os
from typing import Any

from frontends.tf._typing import TensorLike
from frontends.tf.data.host_tensors import as_tensors
from frontends.tf.io import gfile
from frontends.tf.io.host_values import in_shape, texts_of
from spmd.files import path_of, reads


def read_file(filename: TensorLike, name: str | None = None) -> Any:
    """Reads a file.

    Returns:
        Its content, `bytes`.

    Raises:
        OSError: it cannot be read.
        ValueError: there are several names.

    Source: `tf.io.read_file`.
    """
    with reads(_one(filename, "read_file: filename")) as file:
        return as_tensors(file.read())


def write_file(filename: TensorLike, contents: TensorLike, name: str | None = None) -> None:
    """Writes a file, and makes the folders that it is to be in.

    Raises:
        OSError: it cannot be written.
        ValueError: there are several names, or contents.

    Source: `tf.io.write_file`.
    """
    path = path_of(_one(filename, "write_file: filename"))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(_one_text(contents, "write_file: contents"))


def matching_files(pattern: TensorLike, name: str | None = None) -> Any:
    """Lists the files that match a pattern, or several, sorted.

    Returns:
        An array of texts (`bytes`).

    Source: `tf.io.matching_files`.
    """
    patterns, _ = texts_of(pattern, "matching_files: pattern")
    found = {path for one in patterns for path in gfile.glob(os.fsdecode(one))}
    return in_shape([path.encode() for path in sorted(found)], (len(found),))


def _one(value: TensorLike, what: str) -> str:
    return os.fsdecode(_one_text(value if not isinstance(value, os.PathLike) else str(value), what))


def _one_text(value: TensorLike, what: str) -> bytes:
    texts, shape = texts_of(value, what)
    if shape:
        raise ValueError(f"{what} must be a scalar, got shape {list(shape)}.\nFix: map over them")
    return texts[0]
