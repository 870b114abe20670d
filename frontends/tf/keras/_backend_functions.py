"""`tf.keras.backend`'s functions, where Keras 3's remains of them need more of TensorFlow than `tf` has.

Keras 3 keeps Keras 2's backend functions for `tf.keras`, written in TensorFlow. Most run on `tf` as it is
here (see `_injected`); these are over `keras.ops`.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np
from keras import ops

from frontends.tf import _random_ops
from frontends.tf.variable import Variable


def get_value(x: Any) -> Any:
    """Copies a variable or array to NumPy; it blocks until the value is computed.

    Args:
        x: variable, array or number.

    Returns:
        NumPy array or scalar; a number as it is.

    Source: `tf.keras.backend.get_value`.
    """
    return np.array(x)[()] if isinstance(x, (keras.Variable, Variable, jax.Array)) else x


def set_value(x: Any, value: Any) -> None:
    """Assigns a value to a variable.

    Args:
        x: variable.
        value: array or number of its shape.

    Source: `tf.keras.backend.set_value`.
    """
    x.assign(jnp.asarray(value, x.dtype))


def batch_get_value(tensors: Any) -> list[Any]:
    """Copies variables or arrays to NumPy.

    Args:
        tensors: list of variables or arrays.

    Returns:
        One NumPy array each.

    Source: `tf.keras.backend.batch_get_value`.
    """
    return [get_value(tensor) for tensor in tensors]


def batch_set_value(tuples: Any) -> None:
    """Assigns values to variables.

    Args:
        tuples: pairs of a variable and a value.

    Source: `tf.keras.backend.batch_set_value`.
    """
    for variable, value in tuples:
        set_value(variable, value)


def _floating(reduce: Callable[..., Any]) -> Callable[..., Any]:
    """A mean of bools is one of floats."""

    def function(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        x = ops.convert_to_tensor(x)
        if x.dtype == bool:
            x = ops.cast(x, keras.config.floatx())
        return reduce(x, axis=axis, keepdims=keepdims)

    return function


def _filled(fill: Callable[..., Any]) -> Callable[..., Any]:
    def function(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
        return keras.Variable(fill(shape, dtype or keras.config.floatx()), name=name)

    return function


def _normal(draw: Callable[..., Any]) -> Callable[..., Any]:
    def function(
        shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = None, seed: Any = None
    ) -> Any:
        return draw(shape, mean, stddev, dtype or keras.config.floatx(), seed)

    return function


def _uniform(
    shape: Any, minval: float = 0.0, maxval: float = 1.0, dtype: Any = None, seed: Any = None
) -> Any:
    return _random_ops.uniform(shape, minval, maxval, dtype or keras.config.floatx(), seed)


def _assigned(method: str) -> Callable[[Any, Any], Any]:
    def function(x: Any, value: Any) -> Any:
        getattr(x, method)(value)
        return x

    return function


def _switch(condition: Any, then_expression: Any, else_expression: Any) -> Any:
    if callable(then_expression):
        return ops.cond(condition, then_expression, else_expression)
    condition = ops.convert_to_tensor(condition)
    missing = ops.ndim(then_expression) - condition.ndim
    return ops.where(
        condition.reshape(condition.shape + (1,) * missing), then_expression, else_expression
    )


TABLE: dict[str, Any] = {
    "batch_get_value": batch_get_value,
    "batch_set_value": batch_set_value,
    "categorical_crossentropy": ops.categorical_crossentropy,
    "concatenate": lambda tensors, axis=-1: ops.concatenate(tensors, axis),
    "count_params": lambda x: int(np.prod(x.shape)),
    "dot": lambda x, y: jnp.dot(jnp.asarray(x), jnp.asarray(y)),
    "dropout": lambda x, level, noise_shape=None, seed=None: keras.random.dropout(
        x, level, noise_shape, seed
    ),
    "dtype": lambda x: keras.config.floatx() if isinstance(x, float) else str(x.dtype),
    "eval": get_value,
    "gather": lambda reference, indices: ops.take(reference, indices, axis=0),
    "get_value": get_value,
    "in_top_k": lambda predictions, targets, k: ops.in_top_k(targets, predictions, k),
    "int_shape": lambda x: tuple(x.shape),
    "is_sparse": lambda tensor: False,
    "map_fn": lambda fn, elems, name=None, dtype=None: ops.map(fn, elems),
    "mean": _floating(ops.mean),
    "ndim": ops.ndim,
    "ones": _filled(ops.ones),
    "random_bernoulli": lambda shape, p=0.0, dtype=None, seed=None: ops.cast(
        keras.random.uniform(shape, seed=seed) <= p, dtype or keras.config.floatx()
    ),
    "random_normal": _normal(_random_ops.normal),
    "random_uniform": _uniform,
    "repeat": lambda x, n: ops.repeat(ops.expand_dims(x, 1), n, axis=1),
    "set_value": set_value,
    "shape": ops.shape,
    "softmax": lambda x, axis=-1: ops.softmax(x, axis),
    "sparse_categorical_crossentropy": ops.sparse_categorical_crossentropy,
    "std": _floating(ops.std),
    "switch": _switch,
    "truncated_normal": _normal(_random_ops.truncated_normal),
    "update": _assigned("assign"),
    "update_add": _assigned("assign_add"),
    "update_sub": _assigned("assign_sub"),
    "var": _floating(ops.var),
    "variable": lambda value, dtype=None, name=None, constraint=None: keras.Variable(
        jnp.asarray(value, dtype or keras.config.floatx()), name=name
    ),
    "zeros": _filled(ops.zeros),
}
