"""Writers of event files; the default writer, and the step and the condition of summaries.

These three are `contextvars.ContextVar`s: other threads start without them, as in TensorFlow.
"""

import contextlib
import contextvars
import itertools
import os
import socket
import threading
import time
import weakref
from collections.abc import Callable, Generator
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
from jax.core import Tracer

from frontends.tf._step_state import SUMMARIES
from frontends.tf._typing import TensorLike
from frontends.tf.graph import current_graph
from frontends.tf.summary.uploaded_file import UploadedFile
from spmd import _jax_internals
from spmd.assigned import assigned
from spmd.files import is_url, path_of, plain
from spmd.replica import current_frame
from spmd.state import adapter_of
from spmd.typing import StrPath

# TensorBoard's protocol buffer.
Event: TypeAlias = Any
_STEP: contextvars.ContextVar["_Step | None"] = contextvars.ContextVar("summary_step", default=None)
_CONDITION: contextvars.ContextVar[bool | Callable[[], Any]] = contextvars.ContextVar(
    "summary_condition", default=True
)
_FILES = itertools.count()


class SummaryWriter:
    """Appends summaries to an event file; `create_file_writer` makes one."""

    def __init__(
        self,
        records: Any = None,
        max_queue: int | None = None,
        flush_millis: int | None = None,
        put: Callable[[], None] | None = None,
    ) -> None:
        """Makes a writer.

        Args:
            records: TensorBoard's `RecordWriter`, closed with this one; None writes nothing.
            max_queue: how many events may wait to be flushed, 10 by default.
            flush_millis: after which time the next event flushes the queue, 2 minutes by default.
            put: puts the file into its store; None if it is in none.
        """
        self._records, self._put = records, put
        self._max_queue = 10 if max_queue is None else max_queue
        self._flush_seconds = 120 if flush_millis is None else flush_millis / 1000
        self._waiting, self._flushed_at = 0, time.monotonic()
        self._closed = False
        self._lock = threading.Lock()
        # Scripts rarely close their writers, and Python warns when it closes a file itself.
        self._close = weakref.finalize(self, _finish, records) if records else lambda: None

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
            with (
                assigned(_WRITER, self),
                assigned(_STEP, _STEP.get() if step is None else _Step(step)),
            ):
                yield self
        finally:
            self._flush()

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
            set_step(step)

    def init(self) -> None:
        """Does nothing: the file is already open."""

    def append(self, event: Event) -> None:
        """Appends an event, with the present time. Programs that run may call it from threads of theirs.

        Raises:
            RuntimeError: the writer is closed.
        """
        self._check_open()
        if self._records is None:
            return
        event.wall_time = time.time()
        with self._lock:
            self._records.write(event.SerializeToString())
            self._waiting += 1
            late = time.monotonic() - self._flushed_at > self._flush_seconds
            if self._waiting > self._max_queue or late:
                self._write_queue()

    def flush(self) -> None:
        """Writes the queue to the file; blocks until programs that run have written their summaries, and until a store has them.

        Does nothing if the writer is closed, or while a program is traced. A store that does not take the file is warned of.
        """
        if self._flush() and self._put is not None:
            self._put()

    def _flush(self) -> bool:
        """Writes the queue, unless the writer is closed or a program is traced; tells whether it did."""
        if self._records is not None and not self._closed and not _jax_internals.is_tracing():
            jax.effects_barrier()
            with self._lock:
                self._write_queue()
            return True
        return False

    def _write_queue(self) -> None:
        self._records.flush()
        self._waiting, self._flushed_at = 0, time.monotonic()

    def close(self) -> None:
        """Writes the queue and closes the file; does nothing the second time."""
        self._flush()
        self._closed = True
        self._close()

    @property
    def closed(self) -> bool:
        """Whether it takes no more events."""
        return self._closed

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError(
                f"{self!r} is already closed. Make a new one: tf.summary.create_file_writer(logdir)."
            )


def _finish(records: Any) -> None:
    """Closes a file when programs that run have written their summaries to it."""
    try:
        jax.effects_barrier()
    finally:
        records.close()


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
    """Makes a new event file, and its folder; in a model function, which is called several times, one for all calls.

    Args:
        logdir: a folder, or its URL in an object store, which gets the file at most twice a minute, when it is flushed or closed, and
            when the script ends.
        max_queue: how many summaries may wait in the queue; 10 by default.
        flush_millis: milliseconds after which the next summary flushes the queue; two minutes by default.
        filename_suffix: the end of the file's name; `".v2"` by default.
        name: accepted.

    Returns:
        The writer. Its file is closed with it, when it is garbage collected, or when the script ends.

    Raises:
        ImportError: the package `tensorboard` is not installed.
        ValueError: `logdir` is a URL of a kind that fsspec does not know.
        OSError: the file cannot be written.

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
    folder = plain(logdir)
    suffix = ".v2" if filename_suffix is None else filename_suffix
    graph = current_graph()
    known = None if graph is None else graph.store.writers.get((folder, suffix))
    if known is not None and not known.closed:
        return known
    path_of(folder).mkdir(parents=True, exist_ok=True)
    file_name = (
        f"events.out.tfevents.{int(time.time())}.{socket.gethostname()}.{os.getpid()}."
        f"{next(_FILES)}{suffix}"
    )
    path = os.path.join(folder, file_name)
    file = UploadedFile(path) if is_url(path) else open(path, "xb")  # noqa: SIM115  (the writer closes it)
    records = record_writer.RecordWriter(file)
    put = file.put if isinstance(file, UploadedFile) else None
    writer = SummaryWriter(records, max_queue, flush_millis, put)
    writer.append(event_pb2.Event(file_version="brain.Event:2"))
    writer._flush()
    if graph is not None:
        graph.store.writers[folder, suffix] = writer
    return writer


def create_noop_writer() -> SummaryWriter:
    """Makes a writer that writes nothing.

    Source: `tf.summary.create_noop_writer`.
    """
    return SummaryWriter()


def default_writer() -> SummaryWriter | None:
    """Returns the writer of summaries; None if there is none."""
    return _WRITER.get()


def flush(writer: SummaryWriter | None = None, name: str | None = None) -> None:
    """Writes the queue of a writer, by default the default writer; blocks.

    Source: `tf.summary.flush`.
    """
    writer = _WRITER.get() if writer is None else writer
    if writer is not None:
        writer.flush()


def record_if(condition: bool | Callable[[], Any]) -> contextlib.AbstractContextManager[Any]:
    """Decides in a block whether summaries are written, by a boolean or a function that is called for each summary.

    In a program the boolean may be computed.

    Source: `tf.summary.record_if`.
    """
    SUMMARIES["condition"] = condition if callable(condition) else None
    return assigned(_CONDITION, condition)


def should_record_summaries() -> Any:
    """Tells whether a summary would be written now: there is a default writer, and `record_if` allows it.

    Returns:
        A boolean; in a program, an array if the condition is one.

    Source: `tf.summary.should_record_summaries`.
    """
    if _WRITER.get() is None:
        return False
    condition = _CONDITION.get()
    condition = condition() if callable(condition) else condition
    if isinstance(condition, bool):
        return condition
    allowed = jnp.asarray(condition).astype(bool).reshape(())
    return allowed if isinstance(allowed, Tracer) else bool(allowed)


def get_step() -> Any:
    """Returns the step of summaries without one, from `set_step` or `as_default`; None if there is none.

    Raises:
        ValueError: it was computed in a program, and this is another one, or none.

    Source: `tf.summary.experimental.get_step`.
    """
    step = _STEP.get()
    return None if step is None else step.get()


def set_step(step: TensorLike) -> None:
    """Sets the step of summaries without one: an integer, a variable that is read for each summary, or None.

    In a program it may be computed; then it holds in this program only.

    Source: `tf.summary.experimental.set_step`.
    """
    _STEP.set(None if step is None else _Step(step))


class _Step:
    """A step, and the program that computes it."""

    def __init__(self, value: TensorLike) -> None:
        self._value = value
        frame = current_frame() if isinstance(value, Tracer) else None
        self._frame = None if frame is None else weakref.ref(frame)
        # Steps that are traced from now on read the variable.
        SUMMARIES["step"] = value if adapter_of(value) is not None else None

    def get(self) -> Any:
        """Returns the step.

        Raises:
            ValueError: it belongs to another program.
        """
        here = self._frame is None or self._frame() is current_frame()
        if isinstance(self._value, Tracer) and not (here and _jax_internals.is_tracing()):
            raise ValueError(
                "tf.summary.experimental.set_step was called in a program with a value that the program computes, "
                "which is gone with it. Give it a variable, which is read for each summary:\n"
                "    step = tf.Variable(0, dtype=tf.int64)\n"
                "    tf.summary.experimental.set_step(step)"
            )
        return self._value


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
