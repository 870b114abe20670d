"""The variables of Python that a branch or a loop assigns, taken apart into arrays and what is fixed.

A *symbol* is a name, such as `x` or `self.total`. Its value may be an array, a number, a structure of such, or
any other object, which cannot differ from branch to branch or from turn to turn.
"""

import dataclasses
import enum
import re
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from malt.operators.variables import Undefined, UndefinedReturnValue

from frontends.tf.ops.convert import convert_to_tensor
from frontends.tf.variable import Variable
from spmd.state import adapter_of

_NUMBERS = (bool, int, float, complex)
# malt's names for what a function returns.
_RETURNED = re.compile(r"retval_(_\d+)?")


def is_traced(value: object) -> bool:
    """Tells whether a value is known only when the program runs."""
    return isinstance(value, Tracer)


def value_of(value: Any) -> Any:
    """Returns what a variable holds, and other values as they are."""
    if isinstance(value, Tracer):
        return value
    if isinstance(value, Variable):
        return value.value()
    return value.__jax_array__() if hasattr(value, "__jax_array__") else value


def is_undefined(value: object) -> bool:
    """Tells whether a symbol has no value yet."""
    return isinstance(value, (Undefined, UndefinedReturnValue))


def _is_leaf(value: object) -> bool:
    return value is None or (
        not isinstance(value, (list, tuple, dict)) and adapter_of(value) is not None
    )


def is_plain(leaf: object) -> bool:
    """Tells whether a leaf is a number, a text or the like, which is known by its value."""
    return isinstance(leaf, (*_NUMBERS, str, bytes, enum.Enum, type(None), np.dtype, type))


def agreed_dtype(one: Any, other: Any) -> Any:
    """Finds the dtype of what is one of two leaves; None if they have none in common.

    A number of Python takes the other's, if that can hold it.
    """
    first, second = as_array(one), as_array(other)
    if first.dtype == second.dtype:
        return first.dtype
    for number, array in ((one, second), (other, first)):
        if isinstance(number, _NUMBERS) and not isinstance(number, bool):
            held = array.dtype
            wide = np.inexact if isinstance(number, float) else np.number
            if not isinstance(number, complex) and jnp.issubdtype(held, wide):
                return held
    return None


def is_array(leaf: object) -> bool:
    """Tells whether a leaf can be a value of the program."""
    if isinstance(leaf, (jax.Array, *_NUMBERS)):
        return True
    return isinstance(leaf, (np.ndarray, np.generic)) and leaf.dtype.kind in "biufcV"


def has_value(leaf: object) -> bool:
    """Tells whether a leaf is a value of the program, or a variable, which holds one."""
    return is_array(leaf) or (not is_undefined(leaf) and is_array(value_of(leaf)))


@dataclasses.dataclass(frozen=True)
class Symbol:
    """The value of a symbol, taken apart.

    Attributes:
        name: as the user wrote it, or what messages call it.
        structure: of the value.
        leaves: arrays, numbers and other objects.
    """

    name: str
    structure: Any
    leaves: tuple[Any, ...]

    @property
    def undefined(self) -> bool:
        """Whether it has no value."""
        return len(self.leaves) == 1 and is_undefined(self.leaves[0])

    @property
    def is_unset_return(self) -> bool:
        """Whether it is what the function returns, which has no value yet."""
        return len(self.leaves) == 1 and isinstance(self.leaves[0], UndefinedReturnValue)

    @property
    def arrays(self) -> list[Any]:
        """Its leaves that are arrays or numbers, as arrays."""
        return [as_array(leaf) for leaf in self.leaves if is_array(leaf)]

    def read(self) -> "Symbol":
        """Puts what variables hold in their place."""
        leaves = tuple(value_of(leaf) if has_value(leaf) else leaf for leaf in self.leaves)
        return dataclasses.replace(self, leaves=leaves)

    def with_arrays(self, arrays: Iterator[Any]) -> Any:
        """Puts the value together, with other arrays; takes them from an iterator."""
        return self.structure.unflatten(
            next(arrays) if is_array(leaf) else leaf for leaf in self.leaves
        )


def take_apart(name: str, value: Any) -> Symbol:
    """Takes the value of a symbol apart.

    Args:
        name: as converted code has it.
        value: what the symbol holds.
    """
    name = "the returned value" if _RETURNED.fullmatch(name) else name
    leaves, structure = jax.tree.flatten(value, is_leaf=_is_leaf)
    return Symbol(name, structure, tuple(leaves))


def as_array(leaf: Any) -> jax.Array:
    """Makes an array of a leaf, as TensorFlow makes a tensor of a number."""
    return jnp.asarray(leaf) if isinstance(leaf, jax.Array) else convert_to_tensor(leaf)


def text(array: Any) -> str:
    """Says what an array is, in messages."""
    shape = jnp.shape(array)
    dtype = getattr(array, "dtype", None) or np.asarray(array).dtype
    return f"{dtype} of shape {tuple(shape)}"
