"""`tf.compat.v1.gfile`: `tf.io.gfile` by the names of TensorFlow 1, and by its own."""

import functools
from collections.abc import Callable
from typing import Any

from frontends.tf._names import attributes
from frontends.tf.io import gfile


def _of_1(function: Callable[..., Any], **former: str) -> Callable[..., Any]:
    """Lets a function take arguments by their former names."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **{former.get(name, name): value for name, value in kwargs.items()})

    return call


_FILE, _FOLDER = {"filename": "path"}, {"dirname": "path"}
__getattr__, __dir__ = attributes(
    "tf.compat.v1.gfile",
    {
        "Copy": _of_1(gfile.copy, oldpath="src", newpath="dst"),
        "DeleteRecursively": _of_1(gfile.rmtree, **_FOLDER),
        "Exists": _of_1(gfile.exists, **_FILE),
        "FastGFile": gfile.GFile,
        "GFile": gfile.GFile,
        "Glob": _of_1(gfile.glob, filename="pattern"),
        "IsDirectory": _of_1(gfile.isdir, **_FOLDER),
        "ListDirectory": _of_1(gfile.listdir, **_FOLDER),
        "MakeDirs": _of_1(gfile.makedirs, **_FOLDER),
        "MkDir": _of_1(gfile.mkdir, **_FOLDER),
        "Open": gfile.GFile,
        "Remove": _of_1(gfile.remove, **_FILE),
        "Rename": _of_1(gfile.rename, oldname="src", newname="dst"),
        "Stat": _of_1(gfile.stat, **_FILE),
        "Walk": gfile.walk,
    },
    rest="frontends.tf.io.file_io",
)
