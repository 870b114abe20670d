"""`tf.range` whose ends are known only when the program runs: something to loop over, and no array."""

from typing import Any, NoReturn

import jax
import jax.numpy as jnp

from frontends.tf.data.tracing import run_as_python
from frontends.tf.ops.convert import convert_to_tensor


class UnknownLengthError(TypeError):
    """A sequence was asked for its elements, but only the running program knows how many there are."""


class TracedRange:
    """`tf.range` or `range` of numbers that are known only when the program runs.

    It can be looped over. It is no array: programs have fixed shapes.
    """

    def __init__(self, start: Any, limit: Any, delta: Any, dtype: Any = None) -> None:
        """Makes a range; see `tf.range`."""
        parts = [convert_to_tensor(part) for part in (start, limit, delta)]
        self.dtype = jnp.result_type(*parts) if dtype is None else dtype
        self._start, self._limit, self._delta = (part.astype(self.dtype) for part in parts)

    @property
    def length(self) -> jax.Array:
        """How many numbers there are."""
        span = self._limit - self._start
        if jnp.issubdtype(self.dtype, jnp.integer):
            count = -(-span // self._delta)
        else:
            count = jnp.ceil(span / self._delta)
        return jnp.maximum(count, 0).astype(jnp.int32)

    def __getitem__(self, index: Any) -> jax.Array:
        return self._start + jnp.asarray(index, self.dtype) * self._delta

    def __iter__(self) -> NoReturn:
        raise self._error()

    def __jax_array__(self) -> NoReturn:
        raise self._error()

    def _error(self) -> UnknownLengthError:
        advice = (
            "tf.range of a tensor has a length that is known only when the program runs, and programs have fixed "
            "shapes. Loop over it with `for i in tf.range(n)`, or make a longer one and mask it: "
            "tf.where(tf.range(maximum) < n, ..., 0)."
        )
        run_as_python(advice)
        return UnknownLengthError(advice)
