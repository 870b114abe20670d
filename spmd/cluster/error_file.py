"""A file in which a task leaves why it ended, for whoever looks at it afterwards.

    JAXTRIBUTE_ERROR_FILE=/tmp/error

What comes first in it is the first cause, as the report has it: of a task that ended because another one failed, that is what
the other one failed with. Then comes the end of the task's own traceback, if it has one. Tasks that share a machine share the
variable: the second one of a machine has the file `/tmp/error-1`. Kubernetes shows the file `/dev/termination-log` as the message of a container
that has ended.
"""

import contextlib
import os
import sys
import threading
import traceback
from pathlib import Path
from types import TracebackType

ERROR_FILE_VARIABLE = "JAXTRIBUTE_ERROR_FILE"

_MOST_BYTES = 4096  # that Kubernetes shows
_TRACEBACK_BYTES = 2500


class ErrorFile:
    """The file of a task, which holds nothing as long as the task goes on.

    Args:
        path: of the file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._cause = self._traceback = ""
        self._lock = threading.Lock()
        self._write()  # of an earlier attempt

    def note_error(self, error: BaseException) -> None:
        """Records the error that ends this task."""
        self._traceback = "".join(traceback.format_exception(error))
        self._write()

    def note_cause(self, text: str) -> None:
        """Records what ended all tasks, as it is reported."""
        self._cause = text
        self._write()

    def _write(self) -> None:
        last = self._traceback.encode("utf-8", "replace")[-_TRACEBACK_BYTES:]
        parts = [self._cause.encode("utf-8", "replace")[: _MOST_BYTES - _TRACEBACK_BYTES - 2], last]
        # In place: Kubernetes has mounted the file. And nothing hinders a task that is about to end.
        with self._lock, contextlib.suppress(OSError):
            if any(parts) or self._path.exists():
                self._path.write_bytes(b"\n\n".join(filter(None, parts)))


_file: ErrorFile | None = None


def start(task: int) -> None:
    """Has uncaught errors written to the file that the environment names, if it names one.

    Args:
        task: index of this process among those of its machine.
    """
    global _file
    name = os.environ.get(ERROR_FILE_VARIABLE)
    if not name or _file is not None:
        return
    file = _file = ErrorFile(Path(f"{name}-{task}" if task else name))
    before = sys.excepthook

    def note(
        kind: type[BaseException], error: BaseException, traceback: TracebackType | None
    ) -> None:
        before(kind, error, traceback)
        file.note_error(error)

    sys.excepthook = note


def note_error(error: BaseException) -> None:
    """Records the error that ends this task, if somebody wants to know."""
    if _file is not None:
        _file.note_error(error)


def note_cause(text: str) -> None:
    """Records what ended all tasks, if somebody wants to know."""
    if _file is not None:
        _file.note_cause(text)
