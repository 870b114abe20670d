"""Keras's layers in map functions of datasets: what a compiled map function must not change.

A map function is compiled if JAX can trace it. A layer that is random or changes its variables then runs
uncompiled, for each element; one that is built there gets its variables at once.

Internals of Keras that this touches: `SeedGenerator._initial_seed`; tests/frontends/tf/keras/test_maps.py runs
it on every supported version.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf.ops.map_stream import (
    in_compiled_map,
    in_map,
    is_only_for_shapes,
    next_key,
    require_no_write,
)
from spmd.integrations.keras import KerasObject, Method


def draw_in_map(draw: Method, /, self: KerasObject, ordered: bool = True) -> Any:
    """Wraps `SeedGenerator.next`: draws from the map function, on whose threads the generator must not change.

    Raises:
        RuntimeError: the map function is being traced.
    """
    if not in_map():
        return draw(self, ordered)
    if in_compiled_map():
        raise RuntimeError("Keras's layers may ask for values that only a call with values knows.")
    words, number = next_key()
    seed = words[0] if self._initial_seed is None else self._initial_seed & 0xFFFF_FFFF
    return jnp.asarray(np.array([seed, number], np.uint32))


def make_in_map(make: Method, /, self: KerasObject, *args: Any, **kwargs: Any) -> None:
    """Wraps `Variable.__init__`: a variable outlives the program of the map function that makes it."""
    if not (in_compiled_map() or is_only_for_shapes()):
        return make(self, *args, **kwargs)
    with jax.ensure_compile_time_eval():
        return make(self, *args, **kwargs)


def assign_in_map(assign: Method, /, self: KerasObject, value: Any) -> Any:
    """Wraps `Variable.assign`: a compiled map function writes no variable, nor does one that is traced for shapes.

    Raises:
        RuntimeError: the map function is being traced.
    """
    require_no_write()
    if is_only_for_shapes():
        return value
    return assign(self, value)
