"""Which variable a slice was taken of: `v[1:3].assign(...)` assigns to a part of `v`.

A slice is an array like any other. What it is a slice of stands in a table beside it, which keeps neither the
array nor the variable alive.
"""

import weakref
from collections.abc import Callable
from typing import Any, Protocol

import jax


class Sliced(Protocol):
    """What this needs of a variable."""

    def assign_slice(self, index: Any, value: Any, verb: str) -> Any:
        """Changes a part of the variable."""
        ...


_SLICES: dict[int, tuple[weakref.ref[jax.Array], weakref.ref[Any], Any]] = {}


def remember(part: jax.Array, variable: Sliced, index: Any) -> None:
    """Notes of which variable an array is a slice.

    Args:
        part: the array, also a traced one.
        variable: it has `part` at `index`.
        index: what stands in the brackets.
    """
    key = id(part)
    alive = weakref.ref(part, lambda _: _SLICES.pop(key, None))
    _SLICES[key] = alive, weakref.ref(variable), index


def assigner(part: jax.Array, verb: str) -> Callable[..., Any]:
    """Returns what `assign` or a similar method of a slice does.

    Args:
        part: an array.
        verb: name of the method.

    Raises:
        AttributeError: the array is no slice of a variable.
    """
    alive, source, index = _SLICES.get(id(part), (None, None, None))
    variable = None if source is None or alive is None or alive() is not part else source()
    if variable is None:
        raise AttributeError(
            f"An array has no {verb}(): only a tf.Variable and its slices have, as in v[1:3].{verb}(x). "
            "Arrays do not change: bind the name to a new one, x = x + 1."
        )

    def method(
        value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        return variable.assign_slice(index, value, verb)

    return method
