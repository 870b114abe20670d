"""What tensors have and JAX's arrays lack; tests/frontends/tf/test_array_methods.py runs on every version.

This file touches JAX internals: it sets attributes of `jax._src.array.ArrayImpl`, the class of
concrete arrays, which stands for `type(jnp.zeros(()))` without starting a backend, and of
`jax.core.Tracer`, the class of what stands for them while a function is traced.

- Methods that JAX has not: `numpy`, `get_shape`, `set_shape`, `ref`, `eval` (an error), `assign` of a variable's slices.
- Operators take lists and tuples as well, and arrays on different devices of this process; `x[5]` of two entries
  is an error (`_array_operators.py`, `_array_items.py`).
- `x.device` is a device of JAX, which answers what scripts ask TensorFlow's names of devices.
- `x.shape` is a `tf.TensorShape`, and `x.dtype` a `tf.DType`, where the user's code asks (`_user_view.py`).

`numpy` raises AttributeError inside a traced program, as in TensorFlow's graphs.
"""

from typing import Any, Never

import jax
import numpy as np
from jax._src import source_info_util, traceback_util
from jax._src.array import ArrayImpl
from jax._src.core import ShapedArray, aval_property
from jax.core import Tracer

from frontends.tf import _array_items, _array_operators, _array_slices
from frontends.tf._array_items import bounded
from frontends.tf._array_operators import OPERATORS, tolerant
from frontends.tf._array_slices import with_traced_bounds
from frontends.tf._typing import Device, ShapeLike
from frontends.tf._user_view import as_dtype_seen, as_shape_seen, seen_by_users
from frontends.tf.distribute.device_names import long_name
from frontends.tf.graph import Graph, Operation, nearest_graph
from frontends.tf.reference import Reference
from frontends.tf.tensor_shape import TensorShape
from frontends.tf.variable_slice import assigner


def install() -> None:
    """Gives JAX's arrays what tensors have; calling it again changes nothing."""
    if hasattr(ArrayImpl, "numpy"):
        return
    kinds: tuple[Any, ...] = (ArrayImpl, Tracer)
    for kind in kinds:
        kind.shape = seen_by_users(kind.shape.fget, _get_shape, kind.shape.__doc__)
        kind.dtype = seen_by_users(kind.dtype.fget, _shown_dtype, kind.dtype.__doc__)
        for name, method in _METHODS.items():
            setattr(kind, name, method)
        for name in OPERATORS:
            setattr(kind, name, tolerant(getattr(kind, name), name))
        kind.__getitem__ = bounded(with_traced_bounds(kind.__getitem__))
    for name in ("endswith", "startswith", "__contains__"):
        setattr(jax.Device, name, _of_name(name))
    # The line that an operation came from is the one with the operator.
    for file in (_array_items.__file__, _array_slices.__file__, _array_operators.__file__):
        source_info_util.register_exclusion(file)
        traceback_util.register_exclusion(file)
    ArrayImpl.numpy = _numpy  # pyright: ignore[reportAttributeAccessIssue]
    # Not a property of tracers: what it raises is replaced by what their __getattr__ raises.
    ShapedArray.numpy = aval_property(_no_numpy)  # pyright: ignore[reportAttributeAccessIssue]


def _no_numpy(tracer: Tracer) -> Never:
    raise AttributeError(
        f"numpy() was asked of {tracer.aval.str_short()} while a function is traced: its values are not "
        "known yet. Return it from the function, and call numpy() on what that gives: "
        "loss = train_step(batch); loss.numpy(). To look at it in the function, write tf.print(x)."
    )


def _numpy(self: Any) -> Any:
    """Copies the array to a NumPy array, and a scalar to a NumPy scalar.

    It blocks until the array is computed. An array that is spread over processes cannot be read
    like this.

    Source: `tf.Tensor.numpy`.
    """
    return np.array(self)[()]


def _of_name(method: str) -> Any:
    """Makes a method of a device that asks its name in TensorFlow, `/job:.../device:GPU:0`."""

    def ask(self: Device, *args: Any) -> Any:
        return getattr(long_name(self), method)(*args)

    return ask


def _get_shape(self: Any) -> TensorShape:
    """Returns the shape.

    Source: `tf.Tensor.get_shape`.
    """
    return as_shape_seen(self.aval.shape)


def _shown_dtype(self: Any) -> Any:
    return as_dtype_seen(self.aval.dtype)


def _set_shape(self: Any, shape: ShapeLike) -> None:
    """Checks that the array has this shape, in which None fits any size: arrays know theirs.

    Raises:
        ValueError: it has another one.

    Source: `tf.Tensor.set_shape`.
    """
    if not _get_shape(self).is_compatible_with(shape):
        raise ValueError(
            f"Tensor's shape {_get_shape(self)} is not compatible with supplied shape "
            f"{TensorShape(shape)}. To give it another shape, write x = tf.reshape(x, shape)."
        )


def _name(self: Any) -> str:
    """The name of a tensor of a model function, such as `"loss:0"`.

    Raises:
        AttributeError: this is no model function.

    Source: `tf.Tensor.name`.
    """
    return _graph_of("name").name_of(self)


def _op(self: Any) -> Operation:
    """What stands for the operation of a model function that made a tensor; it has its name.

    Raises:
        AttributeError: this is no model function.

    Source: `tf.Tensor.op`.
    """
    graph = _graph_of("op")
    return graph.operation_named_after(graph.name_of(self))


def _graph_of(attribute: str) -> Graph:
    graph = nearest_graph()
    if graph is None:
        raise AttributeError(
            f"Tensor.{attribute} is meaningless when eager execution is enabled: only tensors of a model function have it."
        )
    return graph


def _eval(self: Any, feed_dict: Any = None, session: Any = None) -> Never:
    """Raises an error that says what to write: there is no session.

    Raises:
        NotImplementedError: always.

    Source: `tf.Tensor.eval`.
    """
    if isinstance(self, Tracer):
        raise NotImplementedError(
            "eval() needs a session, and there are none: the function is traced, so the tensor has no value yet. In a model "
            "function have a hook show it, tf.train.LoggingTensorHook({'loss': loss}, every_n_iter=100), or write tf.print(x); "
            "elsewhere return it."
        )
    raise NotImplementedError(
        "eval() needs a session, and there are none. The array has its value already: write x.numpy()."
    )


def _assign(verb: str) -> property:
    """Makes the attribute of a variable's slice that assigns to it; other arrays do not have it."""
    return property(lambda self: assigner(self, verb))


_METHODS: dict[str, Any] = {
    "get_shape": _get_shape,
    "set_shape": _set_shape,
    "ref": lambda self: Reference(self),
    "experimental_ref": lambda self: Reference(self),
    "name": property(_name),
    "op": property(_op),
    "eval": _eval,
    "assign": _assign("assign"),
    "assign_add": _assign("assign_add"),
    "assign_sub": _assign("assign_sub"),
}
