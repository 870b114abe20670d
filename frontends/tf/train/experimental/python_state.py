"""Python state in a checkpoint, in a form that its owner chooses."""

import abc

from frontends.tf.module import Module
from spmd.checkpoint import View, register_view


class PythonState(abc.ABC):
    """A base class of objects that put state of their own into a `tf.train.Checkpoint`.

    What differs here: in a cluster every process keeps what its own object returned, as it keeps the position of its
    own iterator, and restores it if there are as many processes; TensorFlow keeps that of the process whose files remain.

    Examples:
        >>> import json, tempfile
        >>> from frontends import tf
        >>> class Seen(tf.train.experimental.PythonState):
        ...     words = []
        ...
        ...     def serialize(self):
        ...         return json.dumps(self.words)
        ...
        ...     def deserialize(self, string_value):
        ...         self.words = json.loads(string_value)
        >>> seen = Seen()
        >>> seen.words = ["one", "two"]
        >>> checkpoint = tf.train.Checkpoint(seen=seen)
        >>> path = checkpoint.save(tempfile.mkdtemp() + "/ckpt")
        >>> seen.words = []
        >>> _ = checkpoint.restore(path).assert_consumed()
        >>> seen.words
        ['one', 'two']

    Source: `tf.train.experimental.PythonState`.
    """

    @abc.abstractmethod
    def serialize(self) -> str | bytes:
        """Returns the state, when a checkpoint is saved; in a cluster every process calls it."""

    @abc.abstractmethod
    def deserialize(self, string_value: bytes) -> None:
        """Takes what `serialize` returned, when a checkpoint is restored.

        Args:
            string_value: as bytes, also where `serialize` returned a string.
        """


def _view(state: PythonState) -> View:
    if isinstance(state, Module):
        name = type(state).__name__
        raise ValueError(
            f"{name} is a PythonState and a tf.Module, and a checkpoint would keep one of the two. Make the state an "
            "attribute of the module, with a class of its own."
        )
    return View(state, "position", read=lambda: _serialized(state), write=state.deserialize)


def _serialized(state: PythonState) -> bytes:
    text = state.serialize()
    if isinstance(text, str):
        return text.encode()
    if isinstance(text, bytes):
        return text
    name = type(state).__name__
    raise ValueError(
        f"{name}.serialize() returned a {type(text).__name__}. Expected: a string or bytes, such as "
        "json.dumps(self.__dict__)."
    )


register_view(PythonState, _view)
