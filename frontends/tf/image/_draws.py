"""Random numbers of augmentation: JAX's, and in map functions that run on elements NumPy's, which need no program."""

import functools
import threading
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from frontends.tf.data.tracing import in_map_on_host
from frontends.tf.ops import random
from frontends.tf.ops.map_stream import next_key
from frontends.tf.ops.seeds import check_global_seed, op_entropy
from frontends.tf.ops.stateless import stateless_uniform


def drawn(seed: int | None, shape: Sequence[int] = (), low: float = 0.0, high: float = 1.0) -> Any:
    """Draws floats from an interval.

    Args:
        seed: of the operation.
        shape: of the result.
        low: the lowest.
        high: the end, which is not drawn.

    Returns:
        float32.
    """
    if not in_map_on_host():
        return random.uniform(shape, low, high, seed=seed)
    return _generator(seed).random(shape, np.float32) * np.float32(high - low) + np.float32(low)


def drawn_integer(seed: int | None, low: int, high: int) -> Any:
    """Draws an integer from an interval, without its end."""
    if not in_map_on_host():
        return random.uniform([], low, high, jnp.int32, seed)
    return int(_generator(seed).integers(low, high))


def stateless(
    seed: Sequence[int], shape: Sequence[int] = (), low: float = 0.0, high: float = 1.0
) -> Any:
    """Draws floats from an interval, the same ones for the same seed, wherever it is called."""
    return _on_host_in_maps(_uniform(jnp.asarray(seed), tuple(shape)) * (high - low) + low)


def stateless_integer(seed: Sequence[int], low: int, high: int) -> Any:
    """Draws an integer from an interval without its end, the same one for the same seed."""
    return _on_host_in_maps(_integer(jnp.asarray(seed), low, high))


class _Philox(threading.local):
    """The generator of one thread: to set its state takes less time than to make another."""

    def __init__(self) -> None:
        self.bits = np.random.Philox(0)
        self.generator = np.random.Generator(self.bits)
        self.state: Any = self.bits.state
        self.state["state"]["counter"][:] = 0
        self.key = self.state["state"]["key"]


_PHILOX = _Philox()


def _generator(seed: int | None) -> np.random.Generator:
    """Returns the generator of the next draw."""
    if seed is None:
        check_global_seed()
    words, number = next_key(None if seed is None else op_entropy(seed, "tf.image"))
    philox = _PHILOX
    key = philox.key
    key[0] = words[0] << 32 | words[1]
    key[1] = number
    philox.bits.state = philox.state
    return philox.generator


def _on_host_in_maps(value: Any) -> Any:
    concrete = in_map_on_host() and not isinstance(value, Tracer)
    return np.asarray(value) if concrete else value


@functools.partial(jax.jit, static_argnums=1)
def _uniform(seed: Any, shape: tuple[int, ...]) -> Any:
    return stateless_uniform(shape, seed)


@jax.jit
def _integer(seed: Any, low: Any, high: Any) -> Any:
    return stateless_uniform([], seed, low, high, jnp.int32)
