"""The random stream of a dataset's map function: `tf.random` draws from it there.

Datasets are read on threads of their own, ahead of training. The global stream belongs to steps, which read it
and write it back; draws of a map function from it would depend on thread timing, and could collide with a step.
"""

import contextvars
import itertools
from contextlib import AbstractContextManager

from frontends.tf.ops.seeds import key_words, map_entropy
from spmd.assigned import assigned


class MapStream:
    """Keys for one map function: the words of its seeds, and a count of the keys taken.

    Examples:
        >>> from frontends import tf
        >>> noisy = tf.data.Dataset.range(3).map(lambda x: tf.random.uniform([]))
        >>> len({float(x) for x in noisy})
        3
    """

    def __init__(self) -> None:
        """Registers a map function with the global seed."""
        self.words = key_words(map_entropy())
        self.taken = itertools.count()
        self._calls = itertools.count()

    def draws(self) -> tuple[int, ...]:
        """Returns what the random numbers of a call in another process depend on; another value each time."""
        return *self.words, next(self._calls)

    def draw_from(self, draws: tuple[int, ...]) -> None:
        """Draws the numbers of a call; `draws` says of which."""
        self.words = key_words(draws)
        self.taken = itertools.count()


_CURRENT: contextvars.ContextVar[MapStream | None] = contextvars.ContextVar("tf_map_stream")


def drawing_from(stream: MapStream | None) -> AbstractContextManager[MapStream | None]:
    """Marks a block in which a map function runs.

    Args:
        stream: what it draws from; None while it is traced, when nothing can be drawn.
    """
    return assigned(_CURRENT, stream)


def in_map() -> bool:
    """Tells whether a map function runs, or is traced, on this thread."""
    return _CURRENT.get(False) is not False


def in_compiled_map() -> bool:
    """Tells whether a map function is traced on this thread."""
    return _CURRENT.get(False) is None


def require_no_write() -> None:
    """Checks that a variable may be written: not by a map function that is being traced.

    Raises:
        RuntimeError: it is; then the function is called for each element instead.
    """
    if in_compiled_map():
        raise RuntimeError("A map function that is compiled cannot write a variable.")


def next_key() -> tuple[list[int], int]:
    """Takes a key of the map function that runs on this thread, and maybe on others.

    Returns:
        Two words of 32 bits, and a number to fold in.

    Raises:
        RuntimeError: the function is being traced.
    """
    stream = _CURRENT.get()
    if stream is None:
        raise RuntimeError("A map function that is compiled cannot draw from a stream.")
    return stream.words, next(stream.taken)
