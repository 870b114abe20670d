"""What `tf.random` draws from in the map function of a dataset: a stream of that function's own.

Datasets are read on threads of their own, ahead of training. The global stream belongs to steps, which take it in
and write it back; what a map function drew from it would depend on when a thread ran, and could meet a step that
has it in its hands.
"""

import contextlib
import contextvars
import itertools
from collections.abc import Generator

from frontends.tf.ops.seeds import key_words, map_entropy


class MapStream:
    """Keys for one map function: words that its seeds make, and how many keys were taken.

    Examples:
        >>> from frontends import tf
        >>> noisy = tf.data.Dataset.range(3).map(lambda x: tf.random.uniform([]))
        >>> len({float(x) for x in noisy})
        3
    """

    def __init__(self) -> None:
        """Takes its place among the functions that may draw by the global seed."""
        self._words = key_words(map_entropy())
        self._taken = itertools.count()

    def next(self) -> tuple[list[int], int]:
        """Takes a key; may be called on several threads.

        Returns:
            Two words of 32 bits, and a number to fold in.
        """
        return self._words, next(self._taken)


_CURRENT: contextvars.ContextVar[MapStream | None] = contextvars.ContextVar("tf_map_stream")


@contextlib.contextmanager
def drawing_from(stream: MapStream | None) -> Generator[None]:
    """Makes a block in which a map function runs.

    Args:
        stream: what it draws from; None where it is traced, which nothing can be drawn in.
    """
    token = _CURRENT.set(stream)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def in_map() -> bool:
    """Tells whether a map function runs, or is traced, on this thread."""
    return _CURRENT.get(False) is not False


def next_key() -> tuple[list[int], int]:
    """Takes a key of the map function that runs on this thread; see `MapStream.next`.

    Raises:
        RuntimeError: the function is being traced.
    """
    stream = _CURRENT.get()
    if stream is None:
        raise RuntimeError("A map function that is compiled cannot draw from a stream.")
    return stream.next()
