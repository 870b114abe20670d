"""What goes wrong with an object store, as errors of the operating system, whichever library tells of it."""

import contextlib
import errno
import os
from collections.abc import Generator

from spmd.errors import SpmdError

# What the system would say of a file, too.
_KINDS: dict[type[OSError], int] = {
    FileNotFoundError: errno.ENOENT,
    FileExistsError: errno.EEXIST,
    IsADirectoryError: errno.EISDIR,
    NotADirectoryError: errno.ENOTDIR,
}
_LONGEST = 300


class StoreError(SpmdError, OSError):
    """An object store that refuses something or does not answer; the message has the URL, and what the store says."""

    def __str__(self) -> str:  # OSError would show its arguments as an error number and a text
        return str(self.args[0])


class MissingPackageError(SpmdError, ImportError):
    """A URL whose file system is in a package that is not installed; the message names it."""


@contextlib.contextmanager
def as_os_errors(url: str) -> Generator[None]:
    r"""Raises as an OSError that has the URL whatever a library raises.

    Examples:
        >>> with as_os_errors("s3://bucket/a"):
        ...     raise RuntimeError("no credentials\nmore")
        Traceback (most recent call last):
            ...
        spmd.files.errors.StoreError: s3://bucket/a: RuntimeError: no credentials
    """
    try:
        yield
    except SpmdError:
        raise
    except Exception as error:  # each library has classes of its own
        for kind, number in _KINDS.items():
            if isinstance(error, kind):
                raise kind(number, os.strerror(number), url) from error
        if isinstance(error, OSError) and error.filename is not None and error.errno is not None:
            raise  # of a file on this machine
        lines = str(error).strip().splitlines() or [""]
        said = f"{type(error).__name__}: {lines[0][:_LONGEST]}".removesuffix(": ")
        raise StoreError(f"{url}: {said}") from error
