"""What Keras's variables show to the code of users, as Keras 2's variables: a type with attributes, a full name, scatters.

Internals of Keras that this touches: `Variable._name` and `._path`;
tests/frontends/tf/keras/test_variable_view.py runs it on every supported version.
"""

import contextvars
from typing import Any

import jax.numpy as jnp

from frontends.tf._typing import TensorLike
from frontends.tf._user_view import seen_by_users
from frontends.tf.dtypes import as_dtype
from frontends.tf.indexed_slices import IndexedSlices
from frontends.tf.keras._weights import Weight
from spmd.integrations.keras import KerasObject, Method

# Whether the code of an optimizer in the way of Keras 2 runs, which tells variables apart by their full names.
IN_OPTIMIZER: contextvars.ContextVar[bool] = contextvars.ContextVar("in_optimizer", default=False)


class TypeName(str):
    """The name of a type, as Keras 3's variables have it, with the attributes of a `tf.DType`, as Keras 2's have it."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        return getattr(as_dtype(str(self)), name)


def show_dtype(own: property) -> property:
    """Wraps `Variable.dtype`: users see a name that has `base_dtype`, `is_floating` and the like."""
    read: Any = own.fget
    return seen_by_users(read, lambda variable: TypeName(read(variable)), own.__doc__)


def show_name(own: property) -> property:
    """Wraps `Variable.name`: in optimizers, users see the path with `:0`, as Keras 2 names variables."""
    read: Any = own.fget

    def show(variable: KerasObject) -> str:
        return full_name(variable) if IN_OPTIMIZER.get() else read(variable)

    return seen_by_users(read, show, own.__doc__)


def full_name(variable: KerasObject) -> str:
    """Returns a variable's name as Keras 2 has it: `dense/kernel:0`."""
    if isinstance(variable, Weight):
        return str(variable.stands_for.name)
    return f"{variable.path}:0"


def take_locking(
    assign: Method,
    /,
    self: KerasObject,
    value: TensorLike,
    use_locking: bool | None = None,
    name: str | None = None,
    read_value: bool = True,
) -> Any:
    """Wraps `Variable.assign_add` and `assign_sub`: takes what TensorFlow's variables take, which has no effect."""
    return assign(self, value)


def scatter_add(self: KerasObject, sparse_delta: IndexedSlices, *_: Any, **__: Any) -> Any:
    """Adds to rows of the variable; numbers behind the last row are dropped."""
    return _scatter(self, "add", sparse_delta)


def scatter_sub(self: KerasObject, sparse_delta: IndexedSlices, *_: Any, **__: Any) -> Any:
    """Subtracts from rows of the variable; numbers behind the last row are dropped."""
    return _scatter(self, "subtract", sparse_delta)


def scatter_update(self: KerasObject, sparse_delta: IndexedSlices, *_: Any, **__: Any) -> Any:
    """Sets rows of the variable; numbers behind the last row are dropped."""
    return _scatter(self, "set", sparse_delta)


def _scatter(variable: KerasObject, verb: str, slices: IndexedSlices) -> Any:
    held = jnp.asarray(variable.value)
    rows = held.at[jnp.asarray(slices.indices)]
    values = jnp.asarray(slices.values, held.dtype)
    variable.assign(getattr(rows, verb)(values, mode="drop"))
    return variable
