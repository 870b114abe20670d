"""Writers of event files; the default writer, and the step and the condition of summaries.

These three are `contextvars.ContextVar`s: other threads start without them, as in TensorFlow.
"""

import contextlib
import contextvars
import itertools
import os
import socket
import time
import weakref
from collections.abc import Callable, Generator
from typing import Any, TypeAlias

from frontends.tf._typing import TensorLike
from spmd.assigned import assigned
from spmd.typing import StrPath

# TensorBoard's protocol buffer.
Event: TypeAlias = Any
_STEP: contextvars.ContextVar[Any] = contextvars.ContextVar("summary_step", default=None)
_CONDITION: contextvars.ContextVar[bool | Callable[[], Any]] = contextvars.ContextVar(
    "summary_condition", default=True
)
_FILES = itertools.count()


class SummaryWriter:
    """Appends summaries to an event file; `create_file_writer` makes one."""

    def __init__(
        self, records: Any = None, max_queue: int | None = None, flush_millis: int | None = None
    ) -> None:
        """Makes a writer.

        Args:
            records: TensorBoard's `RecordWriter`, closed with this one; None writes nothing.
            max_queue: how many events may wait to be flushed, 10 by default.
            flush_millis: after which time the next event flushes the queue, 2 minutes by default.
        """
        self._records = records
        self._max_queue = 10 if max_queue is None else max_queue
        self._flush_seconds = 120 if flush_millis is None else flush_millis / 1000
        self._waiting, self._flushed_at = 0, time.monotonic()
        self._closed = False
        # Scripts rarely close their writers, and Python warns when it closes a file itself.
        self._close = weakref.finalize(self, records.close) if records else lambda: None

    @contextlib.contextmanager
    def as_default(self, step: TensorLike = None) -> Generator["SummaryWriter"]:
        """Makes this the default writer in the block, which ends with a flush.

        Args:
            step: of summaries without one; None leaves it unchanged.

        Raises:
            RuntimeError: the writer is closed.
        """
        self._check_open()
        try:
            with assigned(_WRITER, self), assigned(_STEP, _STEP.get() if step is None else step):
                yield self
        finally:
            self.flush()

    def set_as_default(self, step: TensorLike = None) -> None:
        """Makes this the default writer from now on.

        Args:
            step: of summaries without one; None leaves it unchanged.

        Raises:
            RuntimeError: the writer is closed.
        """
        self._check_open()
        _WRITER.set(self)
        if step is not None:
            _STEP.set(step)

    def init(self) -> None:
        """Does nothing: the file is already open."""

    def append(self, event: Event) -> None:
        """Appends an event, with the present time.

        Raises:
            RuntimeError: the writer is closed.
        """
        self._check_open()
        if self._records is None:
            return
        event.wall_time = time.time()
        self._records.write(event.SerializeToString())
        self._waiting += 1
        late = time.monotonic() - self._flushed_at > self._flush_seconds
        if self._waiting > self._max_queue or late:
            self.flush()

    def flush(self) -> None:
        """Writes the queue to the file; blocks, and does nothing if the writer is closed."""
        if self._records is not None and not self._closed:
            self._records.flush()
            self._waiting, self._flushed_at = 0, time.monotonic()

    def close(self) -> None:
        """Writes the queue and closes the file; does nothing the second time."""
        self.flush()
        self._closed = True
        self._close()

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError(
                f"{self!r} is already closed. Make a new one: tf.summary.create_file_writer(logdir)."
            )


_WRITER: contextvars.ContextVar[SummaryWriter | None] = contextvars.ContextVar(
    "summary_writer", default=None
)


def create_file_writer(
    logdir: StrPath,
    max_queue: int | None = None,
    flush_millis: int | None = None,
    filename_suffix: str | None = None,
    name: str | None = None,
) -> SummaryWriter:
    """Makes a new event file, and its folder.

    Args:
        logdir: a local folder.
        max_queue: how many summaries may wait in the queue; 10 by default.
        flush_millis: milliseconds after which the next summary flushes the queue; two minutes by default.
        filename_suffix: the end of the file's name; `".v2"` by default.
        name: accepted.

    Returns:
        The writer. Its file is closed with it, or when it is garbage collected.

    Raises:
        ImportError: the package `tensorboard` is not installed.
        ValueError: `logdir` is a URL, such as `gs://...`.

    Examples:
        >>> import tempfile
        >>> from frontends import tf
        >>> writer = tf.summary.create_file_writer(tempfile.mkdtemp())
        >>> with writer.as_default():
        ...     tf.summary.scalar("loss", 0.5, step=1)
        True
        >>> writer.close()

    Source: `tf.summary.create_file_writer`.
    """
    event_pb2, record_writer = require_tensorboard()
    folder = os.fspath(logdir)
    if "://" in folder:
        raise ValueError(
            f"logdir must be a local folder, but it is {folder!r}. Write to one, and copy it there."
        )
    os.makedirs(folder, exist_ok=True)
    suffix = ".v2" if filename_suffix is None else filename_suffix
    file_name = (
        f"events.out.tfevents.{int(time.time())}.{socket.gethostname()}.{os.getpid()}."
        f"{next(_FILES)}{suffix}"
    )
    file = open(os.path.join(folder, file_name), "xb")  # noqa: SIM115  (the writer closes it)
    writer = SummaryWriter(record_writer.RecordWriter(file), max_queue, flush_millis)
    writer.append(event_pb2.Event(file_version="brain.Event:2"))
    writer.flush()
    return writer


def create_noop_writer() -> SummaryWriter:
    """Makes a writer that writes nothing.

    Source: `tf.summary.create_noop_writer`.
    """
    return SummaryWriter()


def default_writer() -> SummaryWriter | None:
    """Returns the writer of summaries; None if there is none, or `record_if` disables them."""
    return _WRITER.get() if should_record_summaries() else None


def flush(writer: SummaryWriter | None = None, name: str | None = None) -> None:
    """Writes the queue of a writer, by default the default writer; blocks.

    Source: `tf.summary.flush`.
    """
    writer = _WRITER.get() if writer is None else writer
    if writer is not None:
        writer.flush()


def record_if(condition: bool | Callable[[], Any]) -> contextlib.AbstractContextManager[Any]:
    """Decides in a block whether summaries are written, by a boolean or a function that is called for each summary.

    Source: `tf.summary.record_if`.
    """
    return assigned(_CONDITION, condition)


def should_record_summaries() -> bool:
    """Tells whether a summary would be written now: there is a default writer, and `record_if` allows it.

    Source: `tf.summary.should_record_summaries`.
    """
    condition = _CONDITION.get()
    return _WRITER.get() is not None and bool(condition() if callable(condition) else condition)


def get_step() -> Any:
    """Returns the step of summaries without one, from `set_step` or `as_default`; None if there is none.

    Source: `tf.summary.experimental.get_step`.
    """
    return _STEP.get()


def set_step(step: TensorLike) -> None:
    """Sets the step of summaries without one: an integer, a variable that is read for each summary, or None.

    Source: `tf.summary.experimental.set_step`.
    """
    _STEP.set(step)


def require_tensorboard() -> tuple[Any, Any]:
    """Imports the modules that write event files.

    Raises:
        ImportError: the package tensorboard is not installed.
    """
    try:
        from tensorboard.compat.proto import event_pb2
        from tensorboard.summary.writer import record_writer
    except ImportError as error:
        raise ImportError(
            "Event files are written with the package tensorboard, which cannot be imported "
            f'({error}). Install it: pip install "jaxtribute[tensorboard]"'
        ) from error
    return event_pb2, record_writer
