"""What can be wrong with a checkpoint."""

import errno
import os
import re
from collections.abc import Sequence

from spmd.errors import SpmdError
from spmd.files import StoreError

# How TensorStore tells of an error of the operating system, and of its files.
_OS_ERROR = re.compile(r"os_error_code='(\d+)'")
_FILE = re.compile(r'"([^"]+)"')

SHOWN = 10  # how many of a list a message names


def first_lines(lines: Sequence[str]) -> str:
    """Joins the first lines of a list, and says how many more there are."""
    more = [f"  and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else []
    return "\n".join([*lines[:SHOWN], *more])


def is_about_files(error: BaseException) -> bool:
    """Tells whether an error is one of the operating system, as TensorStore tells of it, too."""
    return isinstance(error, OSError) or _OS_ERROR.search(str(error)) is not None


def in_a_sentence(error: BaseException) -> str:
    r"""Says what went wrong with a file, without what the libraries below tell of themselves.

    Examples:
        >>> in_a_sentence(OSError(28, "No space left on device", "run/ckpt-1"))
        'run/ckpt-1: No space left on device (ENOSPC)'
        >>> text = "RESOURCE_EXHAUSTED: Error writing: Failed writing: \"a/b\": No space left on device [os_error_code='28']"
        >>> in_a_sentence(ValueError(text))
        'a/b: No space left on device (ENOSPC)'
    """
    if isinstance(error, StoreError):
        return str(error)
    number = error.errno if isinstance(error, OSError) else None
    file = error.filename if isinstance(error, OSError) else None
    if (found := _OS_ERROR.search(str(error))) is not None:
        number = int(found[1])
        files = _FILE.findall(str(error))
        file = files[-1] if files else None
    if number is None:
        lines = str(error).splitlines()
        return f"{type(error).__name__}: {lines[0][:300]}" if lines else type(error).__name__
    where = f"{os.fspath(file)}: " if file is not None else ""
    return f"{where}{os.strerror(number)} ({errno.errorcode.get(number, number)})"


class CheckpointError(SpmdError, ValueError):
    """A checkpoint that cannot be written, or does not fit what it is restored into."""


class _FileError(CheckpointError, OSError):
    # OSError would show its arguments as an error number and a text.
    def __str__(self) -> str:
        return str(self.args[0])


class SaveError(_FileError):
    """A checkpoint that could not be written, in one process or several; those before it are as they were."""


class DamagedCheckpointError(CheckpointError):
    """A checkpoint whose files are not those that were written."""


class CheckpointNotFoundError(_FileError, FileNotFoundError):
    """A path that holds no checkpoint."""
