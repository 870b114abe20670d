"""What `tf.random` draws from in the map function of a dataset: a stream of that function's own.

Datasets are read on threads of their own, ahead of training. The global stream belongs to steps, which take it in
and write it back; what a map function drew from it would depend on when a thread ran, and could meet a step that
has it in its hands.
"""

import contextlib
import contextvars
import itertools
from collections.abc import Generator
from typing import SupportsIndex

import numpy as np

from frontends.tf._seeds import map_entropy, op_entropy


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
        self._words = np.random.SeedSequence(map_entropy()).generate_state(2)
        self._taken = itertools.count()

    def next(self, seed: SupportsIndex | None) -> tuple[np.ndarray, int]:
        """Takes a key; may be called on several threads.

        Args:
            seed: the operation's own, or None.

        Returns:
            Two words of 32 bits, and a number to fold in.
        """
        words = self._words
        if seed is not None:
            words = np.random.SeedSequence(op_entropy(seed, "random")).generate_state(2)
        return words, next(self._taken)


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


def next_key(seed: SupportsIndex | None) -> tuple[np.ndarray, int]:
    """Takes a key of the map function that runs on this thread.

    Args:
        seed: the operation's own, or None.

    Raises:
        RuntimeError: the function is being traced.
    """
    stream = _CURRENT.get()
    if stream is None:
        raise RuntimeError("A map function that is compiled cannot draw from a stream.")
    return stream.next(seed)
