"""The random stream of a dataset's map function: `tf.random` draws from it there.

Datasets are read on threads of their own, ahead of training. The global stream belongs to steps, which read it
and write it back; draws of a map function from it would depend on thread timing, and could collide with a step.
"""

import contextlib
import contextvars
import functools
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from frontends.tf.ops.seeds import initial_entropy, key_words, map_entropy
from spmd import _jax_internals
from spmd.assigned import assigned
from spmd.input.pipeline import Numbers, TracedDraws

T = TypeVar("T")

# Of the two words of a key, or of a number that is folded in.
_WORD = 1 << 32
# The golden ratio, from which the words of following elements differ in many bits.
_ODD = np.uint64(0x9E3779B97F4A7C15)


class _Draws(Protocol):
    """What a map function draws from."""

    def next_key(self, entropy: tuple[int, ...] | None) -> tuple[Any, Any]:
        """Takes the words of a key and a number to fold in; see the function of this name."""
        ...


class MapStream:
    """Keys for one map function: the words of its seeds, and a count of the elements and the keys.

    Examples:
        >>> from frontends import tf
        >>> noisy = tf.data.Dataset.range(3).map(lambda x: tf.random.uniform([]))
        >>> len({float(x) for x in noisy})
        3
    """

    def __init__(self) -> None:
        """Registers a map function with the global seed."""
        self._words = key_words(map_entropy())
        self._taken = self._calls = 0
        self._lock = threading.Lock()

    def reserve(self, count: int) -> int:
        """Returns the first of so many numbers; see `spmd.input.pipeline.Draws`."""
        with self._lock:
            first = self._taken
            self._taken += count
        return first

    def keys(self, numbers: Numbers, seeds: Sequence[Any]) -> NDArray[np.uint32]:
        """Returns the keys of compiled draws; see `spmd.input.pipeline.Draws`.

        A hash of the function, the place of the draw and the element: an array of all of them takes microseconds.
        """
        starts = [
            _place_word((*(self._words if seed is None else seed), place))
            for place, seed in enumerate(seeds)
        ]
        words = np.asarray(starts, np.uint64) + numbers.astype(np.uint64)[:, None] * _ODD
        # SplitMix64's mixing: equal words for no two elements of one place.
        words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        words ^= words >> np.uint64(31)
        return words.view(np.uint32).reshape(*words.shape, 2)

    def next_key(self, entropy: tuple[int, ...] | None) -> tuple[list[int], int]:
        """Takes a key for one draw of a call that is not compiled."""
        words = self._words if entropy is None else _seed_words(entropy)
        return words, self.reserve(1) % _WORD

    def draws(self) -> tuple[int, ...]:
        """Returns what the random numbers of a call in another process depend on; another value each time."""
        with self._lock:
            self._calls += 1
        return *self._words, self._calls - 1

    def draw_from(self, draws: tuple[int, ...]) -> None:
        """Draws the numbers of a call; `draws` says of which."""
        self._words = key_words(draws)
        # An operation with a seed of its own has the same words in each call.
        self._taken = self._words[0]


class CompiledDraws:
    """Keys for a map function that is traced: each element has others, which are arguments of the program.

    Args:
        draws: the keys, as the program knows them.
    """

    def __init__(self, draws: TracedDraws) -> None:
        self._draws = draws
        self._state = _jax_internals.trace_state()

    def next_key(self, entropy: tuple[int, ...] | None) -> tuple[Any, int | None]:
        """Takes a key for one draw.

        Raises:
            RuntimeError: it would be drawn in a loop or another transformation, each time the same; or nothing can be drawn.
        """
        if not self.may_draw():
            raise RuntimeError("In a loop, a map function draws numbers for each element alone.")
        return self._draws.take(entropy), None

    @contextlib.contextmanager
    def in_branch(self, outside: bool) -> Generator[None]:
        """Marks a block in which a branch is traced: unlike a loop's body, it runs once at most.

        Args:
            outside: whether code could draw where the branches are.
        """
        before = self._state
        if outside:
            self._state = _jax_internals.trace_state()
        try:
            yield
        finally:
            self._state = before

    def may_draw(self) -> bool:
        """Tells whether a draw here is one of the element, and not of a loop's turn or a row of it."""
        return _jax_internals.trace_state() == self._state


class _ForShapes:
    """Random numbers that nobody uses, of a map function that is traced for nothing but shapes."""

    def next_key(self, entropy: tuple[int, ...] | None) -> tuple[list[int], int]:
        """Takes the same key each time."""
        return [0, 0], 0


class _InitialDraws:
    """Random numbers of initial values: other ones for each draw, and the same on all replicas of a process."""

    def next_key(self, entropy: tuple[int, ...] | None) -> tuple[list[int], int]:
        """Takes the key of one draw."""
        number, drawn = initial_entropy()
        return (key_words(drawn), 0) if entropy is None else (_seed_words(entropy), number)


@functools.lru_cache(256)
def _seed_words(entropy: tuple[int, ...]) -> list[int]:
    return key_words(entropy)


@functools.lru_cache(1024)
def _place_word(entropy: tuple[int, ...]) -> int:
    high, low = key_words(entropy)
    return high << 32 | low


_CURRENT: contextvars.ContextVar[_Draws | None] = contextvars.ContextVar("tf_map_stream")


def drawing_from(stream: _Draws) -> AbstractContextManager[_Draws | None]:
    """Marks a block in which a map function runs, or is traced.

    Args:
        stream: what it draws from.
    """
    return assigned(_CURRENT, stream)


def only_for_shapes() -> AbstractContextManager[object]:
    """Marks a block in which a map function is traced for nothing but shapes: it draws no numbers and writes no variables."""
    return drawing_from(_ForShapes())


def is_only_for_shapes() -> bool:
    """Tells whether a map function is traced for nothing but shapes on this thread."""
    return isinstance(_CURRENT.get(None), _ForShapes)


def initial_draws() -> AbstractContextManager[object]:
    """Marks a block that computes initial values: its draws are none of the program's around it."""
    return drawing_from(_InitialDraws())


def draws_initial_values() -> bool:
    """Tells whether draws on this thread are for initial values."""
    return isinstance(_CURRENT.get(None), _InitialDraws)


def in_map() -> bool:
    """Tells whether a map function runs, or is traced, on this thread."""
    return _CURRENT.get(None) is not None


def in_compiled_map() -> bool:
    """Tells whether a map function is traced on this thread."""
    return isinstance(_CURRENT.get(None), CompiledDraws)


def drawing_in_branch(branch: Callable[[], T]) -> Callable[[], T]:
    """Lets a branch of a map function that is traced draw, if its surroundings may."""
    draws = _CURRENT.get(None)
    if not isinstance(draws, CompiledDraws):
        return branch
    outside = draws.may_draw()

    def call() -> T:
        with draws.in_branch(outside):
            return branch()

    return call


def require_no_write() -> None:
    """Checks that a variable may be written: not by a map function that is being traced.

    Raises:
        RuntimeError: it is; then the function is called for each element instead.
    """
    if in_compiled_map():
        raise RuntimeError("A map function that is compiled cannot write a variable.")


def next_key(entropy: tuple[int, ...] | None = None) -> tuple[Any, int | None]:
    """Takes a key of the map function that runs on this thread, and maybe on others.

    Args:
        entropy: of an operation with a seed of its own; None takes the function's.

    Returns:
        Two words of 32 bits, and a number to fold in; None if the words are other ones for each draw.

    Raises:
        RuntimeError: the function is being traced, and cannot draw here; then it is called for each element instead.
    """
    stream = _CURRENT.get()
    if stream is None:
        raise LookupError("No map function runs on this thread.")
    return stream.next_key(entropy)
