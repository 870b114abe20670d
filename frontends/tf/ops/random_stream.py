"""The global stream, from which `tf.random.normal` and its kin draw.

The stream is a variable of the engine: a key, and a count of draws. A step that draws advances
it, so numbers differ from step to step; every replica folds in its index.
"""

import contextlib
import contextvars
import functools
import threading
from collections.abc import Callable, Generator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

import spmd
from frontends.tf.ops.seeds import key_words, seeds_apart, stream_entropy
from spmd.assigned import assigned
from spmd.replica import current_frame

# Steps search this for state; empty until something is drawn, for a variable starts the backend.
STREAM: dict[str, spmd.Variable] = {}


_LOCK = threading.Lock()


class _Stream(spmd.Variable):
    """Two words of a key, and a count."""

    __slots__ = ()

    def __init__(self) -> None:
        with jax.ensure_compile_time_eval():
            super().__init__(jnp.asarray([*key_words(stream_entropy()), 0], jnp.uint32))
        self.name = "tf.random"
        self._made_in_step()  # the first step that draws makes it


class _Within:
    """Draws of a function that is differentiated: the stream advances once, when the function is over."""

    def __init__(self, stream: _Stream) -> None:
        self._stream, self.taken = stream, 0

    def take(self) -> tuple[Any, Any]:
        """Takes the words of a key and a number to fold in; only reads the stream."""
        self.taken += 1
        state = self._stream.value
        return state[:2], state[2] * jnp.uint32(2654435761) + jnp.uint32(self.taken)


_WITHIN: contextvars.ContextVar[_Within | None] = contextvars.ContextVar("tf_within", default=None)


_NOTED: contextvars.ContextVar[list[_Stream] | None] = contextvars.ContextVar(
    "tf_draws", default=None
)


@contextlib.contextmanager
def noting_draws() -> Generator[list[_Stream]]:
    """Notes in a list the stream, once for each draw of a block."""
    drawn: list[_Stream] = []
    with assigned(_NOTED, drawn):
        yield drawn


def drawing_inside(function: Callable[..., Any]) -> Callable[..., Any]:
    """Lets code draw from the stream inside of transformations of JAX, such as the gradient of Keras's steps.

    Args:
        function: a replica's; it applies the transformations.
    """

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        stream = make_stream()
        within = _Within(stream)
        with assigned(_WITHIN, within):
            result = function(*args, **kwargs)
        if within.taken:
            stream.value = stream.value + jnp.asarray([0, 0, 1], jnp.uint32)
        return result

    return call


def make_stream() -> _Stream:
    """Returns the global stream, which the first call makes."""
    with _LOCK:
        if "tf.random" not in STREAM:
            STREAM["tf.random"] = _Stream()
        stream: Any = STREAM["tf.random"]
    return stream


def restart_stream() -> None:
    """Starts the stream over, from the global seed."""
    if "tf.random" in STREAM:
        STREAM["tf.random"].value = _Stream().value


@contextlib.contextmanager
def randomness_apart() -> Generator[None]:
    """Lets a block have a global seed and a stream of its own: after it they are as before."""
    before = np.array(STREAM["tf.random"].value) if "tf.random" in STREAM else None
    with seeds_apart():
        try:
            yield
        finally:
            if before is not None:
                STREAM["tf.random"].value = jnp.asarray(before)
    if before is None:
        restart_stream()


def take_key() -> tuple[Any, Any]:
    """Takes the words of a key and a number to fold in from the stream.

    Raises:
        RuntimeError: JAX traces a function outside of a step, which is not called again.
    """
    within = _WITHIN.get()
    if within is not None:
        return within.take()
    stream = make_stream()
    noted = _NOTED.get()
    if noted is not None:
        noted.append(stream)
    with _LOCK:
        state = stream.value
        after = state + jnp.asarray([0, 0, 1], jnp.uint32)
        if isinstance(after, Tracer) and not isinstance(state, Tracer) and current_frame() is None:
            raise RuntimeError(
                "tf.random draws from a stream that advances with every call, but a function traced by jax.jit or another "
                "transformation is not called again. Draw in a step (strategy.run, tf.function), or from a "
                "seed that is an argument: tf.random.stateless_uniform(shape, seed=[7, number])."
            )
        stream.value = after
    return state[:2], state[2]
