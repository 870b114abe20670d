"""`tf.compat.v1.summary`: summaries of a model function, which its estimator writes, and writers of event files.

In a model function a summary is collected, and written every `save_summary_steps` steps. Elsewhere it is written at once, as
`tf.summary` does: to the default writer, if there is one.
"""

import os
import threading
from collections.abc import Callable
from typing import Any, ClassVar

from frontends.tf._names import attributes, defined_in
from frontends.tf._typing import TensorLike
from frontends.tf.compat.v1.collections import GraphKeys, get_collection
from frontends.tf.ops.convert import convert_to_tensor
from frontends.tf.summary import ops
from frontends.tf.summary.collected import Summary as _Collected
from frontends.tf.summary.collected import collect, is_collected
from frontends.tf.summary.writer import create_file_writer, require_tensorboard
from spmd.files import absolute, path_of
from spmd.typing import StrPath

# TensorBoard's protocol buffers.
_PROTOCOL_BUFFERS = ("Event", "Summary", "SummaryMetadata")


def scalar(
    name: str, tensor: TensorLike, collections: list[str] | None = None, family: str | None = None
) -> Any:
    """Collects a number, or writes it.

    Args:
        name: of the curve, below the name scope; made unique in a model function.
        tensor: one number.
        collections: names of the collections to add it to; None for `tf.GraphKeys.SUMMARIES`.
        family: a word before the name, by which TensorBoard groups curves.

    Returns:
        What was collected; elsewhere whether it was written.

    Raises:
        ValueError: it is written, and there is no step: see `tf.summary.scalar`.

    Source: `tf.compat.v1.summary.scalar`.
    """
    return _summary("scalar", name, tensor, collections, family, ops.scalar)


def histogram(
    name: str, values: TensorLike, collections: list[str] | None = None, family: str | None = None
) -> Any:
    """Collects the distribution of numbers, or writes it; see `scalar`.

    Source: `tf.compat.v1.summary.histogram`.
    """
    return _summary("histogram", name, values, collections, family, ops.histogram)


def image(
    name: str,
    tensor: TensorLike,
    max_outputs: int = 3,
    collections: list[str] | None = None,
    family: str | None = None,
) -> Any:
    """Collects the first images of a batch, `[rows, height, width, channels]`, or writes them; see `scalar`.

    In a model function each image of floats is stretched to the whole range; elsewhere they are taken as they are, from 0 to 1.

    Source: `tf.compat.v1.summary.image`.
    """
    first = convert_to_tensor(tensor)[:max_outputs]
    return _summary("image", name, first, collections, family, ops.image, max_outputs)


def text(name: str, tensor: TensorLike, collections: list[str] | None = None) -> Any:
    """Collects a text in Markdown, or writes it; see `scalar`.

    Source: `tf.compat.v1.summary.text`.
    """
    return _summary("text", name, tensor, collections, None, ops.text)


def merge(
    inputs: list[Any], collections: list[str] | None = None, name: str | None = None
) -> list[_Collected]:
    """Makes one list of summaries, and of lists of them.

    Args:
        inputs: what `scalar` and its like have collected.

    Source: `tf.compat.v1.summary.merge`.
    """
    return [one for each in inputs for one in ([each] if isinstance(each, _Collected) else each)]


def merge_all(
    key: str = GraphKeys.SUMMARIES, scope: str | None = None, name: str | None = None
) -> list[_Collected] | None:
    """Lists the summaries of a collection; None if there are none.

    Args:
        key: the name of the collection.
        scope: see `tf.get_collection`.

    Source: `tf.compat.v1.summary.merge_all`.
    """
    return merge(get_collection(key, scope)) or None


def all_v2_summary_ops() -> list[Any]:
    """Returns an empty list: summaries with a step are written when the program runs, without being fetched.

    Source: `tf.compat.v1.summary.all_v2_summary_ops`.
    """
    return []


class FileWriter:
    """Appends to an event file.

    Source: `tf.compat.v1.summary.FileWriter`.
    """

    def __init__(
        self,
        logdir: StrPath,
        graph: object = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        graph_def: object = None,
        filename_suffix: str | None = None,
        session: object = None,
    ) -> None:
        """Makes the file.

        Args:
            logdir: a folder, or its URL in an object store.
            max_queue: how many events may wait in the queue.
            flush_secs: seconds after which the next event flushes it.
            filename_suffix: the end of the file's name.

        Raises:
            ImportError: the package `tensorboard` is not installed.
        """
        self._folder = os.fspath(logdir)
        self._writer = create_file_writer(
            self._folder, max_queue, int(flush_secs * 1000), filename_suffix or ""
        )

    def __enter__(self) -> "FileWriter":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def get_logdir(self) -> str:
        """Returns the folder."""
        return self._folder

    def add_summary(self, summary: Any, global_step: TensorLike = None) -> None:
        """Appends values.

        Args:
            summary: a `tf.Summary`, or its bytes: `tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=0.5)])`.
            global_step: their step.

        Raises:
            TypeError: it is something else.
        """
        made = _protocol_buffer("Summary")
        if isinstance(summary, bytes):
            summary = made.FromString(summary)
        if not isinstance(summary, made):
            raise TypeError(
                f"add_summary takes a tf.Summary or its bytes, got {type(summary).__name__}. Write "
                'tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=0.5)]); summaries of a model function are '
                "written by its estimator."
            )
        step = 0 if global_step is None else int(convert_to_tensor(global_step))
        self.add_event(_protocol_buffer("Event")(step=step, summary=summary))

    def add_event(self, event: Any) -> None:
        """Appends an event, with the present time."""
        self._writer.append(event)

    def add_graph(
        self, graph: object, global_step: object = None, graph_def: object = None
    ) -> None:
        """Does nothing: there is no graph to show."""

    @property
    def closed(self) -> bool:
        """Whether it takes no more events."""
        return self._writer.closed

    def flush(self) -> None:
        """Writes the queue to the file."""
        self._writer.flush()

    def close(self) -> None:
        """Writes the queue and closes the file."""
        self._writer.close()


class FileWriterCache:
    """One writer for each folder, which all who write there share: TensorBoard reads files of a folder one after the other.

    Source: `tf.compat.v1.summary.FileWriterCache`.
    """

    _writers: ClassVar[dict[str, FileWriter]] = {}
    _lock = threading.Lock()

    @classmethod
    def get(cls, logdir: StrPath) -> FileWriter:
        """Returns the writer of a folder; makes it the first time, and where it was closed or its folder deleted."""
        folder = absolute(logdir)
        with cls._lock:
            found = cls._writers.get(folder)
            if found is None or found.closed or not path_of(folder).is_dir():
                found = cls._writers[folder] = FileWriter(folder)
            return found

    @classmethod
    def clear(cls) -> None:
        """Closes all writers, and forgets them."""
        with cls._lock:
            for writer in cls._writers.values():
                writer.close()
            cls._writers.clear()


def _summary(
    kind: str,
    name: str,
    tensor: TensorLike,
    collections: list[str] | None,
    family: str | None,
    write: Callable[[str, TensorLike], Any],
    max_outputs: int | None = None,
) -> Any:
    if is_collected():
        return collect(name, kind, tensor, collections, family, max_outputs)
    return write(name if family is None else f"{family}/{name}", tensor)


def _protocol_buffer(name: str) -> Any:
    events, _ = require_tensorboard()
    from tensorboard.compat.proto import summary_pb2

    return getattr(events if name == "Event" else summary_pb2, name)


_attribute, __dir__ = attributes(
    "tf.compat.v1.summary", defined_in(__name__), present=_PROTOCOL_BUFFERS
)


def __getattr__(name: str) -> Any:
    return _protocol_buffer(name) if name in _PROTOCOL_BUFFERS else _attribute(name)
