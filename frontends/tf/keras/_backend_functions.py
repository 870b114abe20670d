"""`tf.keras.backend`'s functions, where Keras 3's remains of them need more of TensorFlow than `tf` has.

Keras 3 keeps Keras 2's backend functions for `tf.keras`, written in TensorFlow. Most run on `tf` as it is
here (see `_patches`); these are over `keras.ops`.
"""

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np
from keras import ops

from frontends.tf._typing import Axis, DTypeLike, ShapeLike, TensorLike, VariableLike
from frontends.tf.ops import random
from frontends.tf.variable import Variable


def get_value(x: TensorLike) -> Any:
    """Copies a variable or array to NumPy, a scalar to a NumPy scalar; a number stays as it is.

    Blocks until the value is computed.

    Source: `tf.keras.backend.get_value`.
    """
    return np.array(x)[()] if isinstance(x, (keras.Variable, Variable, jax.Array)) else x


def set_value(x: VariableLike, value: TensorLike) -> None:
    """Assigns a value to a variable of its shape.

    Source: `tf.keras.backend.set_value`.
    """
    x.assign(jnp.asarray(value, x.dtype))


def batch_get_value(tensors: Iterable[TensorLike]) -> list[Any]:
    """Copies each variable or array to NumPy.

    Source: `tf.keras.backend.batch_get_value`.
    """
    return [get_value(tensor) for tensor in tensors]


def batch_set_value(tuples: Iterable[tuple[VariableLike, TensorLike]]) -> None:
    """Assigns values to variables, from pairs of a variable and a value.

    Source: `tf.keras.backend.batch_set_value`.
    """
    for variable, value in tuples:
        set_value(variable, value)


def _floating(
    reduce: Callable[..., Any], x: TensorLike, axis: Axis = None, keepdims: bool = False
) -> Any:
    """Reduces; a mean of bools is one of floats."""
    x = ops.convert_to_tensor(x)
    if x.dtype == bool:
        x = ops.cast(x, keras.config.floatx())
    return reduce(x, axis=axis, keepdims=keepdims)


def _filled(
    fill: Callable[..., Any], shape: ShapeLike, dtype: DTypeLike = None, name: str | None = None
) -> Any:
    return keras.Variable(fill(shape, dtype or keras.config.floatx()), name=name)


def _normal(
    draw: Callable[..., Any],
    shape: ShapeLike,
    mean: float = 0.0,
    stddev: float = 1.0,
    dtype: DTypeLike = None,
    seed: int | None = None,
) -> Any:
    return draw(shape, mean, stddev, dtype or keras.config.floatx(), seed)


def _uniform(
    shape: ShapeLike,
    minval: float = 0.0,
    maxval: float = 1.0,
    dtype: DTypeLike = None,
    seed: int | None = None,
) -> Any:
    return random.uniform(shape, minval, maxval, dtype or keras.config.floatx(), seed)


def _assigned(method: str, x: TensorLike, value: TensorLike) -> Any:
    getattr(x, method)(value)
    return x


def _switch(condition: TensorLike, then_expression: TensorLike, else_expression: TensorLike) -> Any:
    if callable(then_expression):
        return ops.cond(condition, then_expression, else_expression)
    condition = ops.convert_to_tensor(condition)
    missing = ops.ndim(then_expression) - condition.ndim
    return ops.where(
        condition.reshape(condition.shape + (1,) * missing), then_expression, else_expression
    )


def _fold(
    reverse: bool,
    fn: Callable[..., Any],
    elems: TensorLike,
    initializer: TensorLike = None,
    name: str | None = None,
) -> Any:
    elems = jax.tree.map(ops.convert_to_tensor, elems)
    if initializer is None:
        first, rest = (-1, slice(-1)) if reverse else (0, slice(1, None))
        initializer = jax.tree.map(lambda x: x[first], elems)
        elems = jax.tree.map(lambda x: x[rest], elems)
    start = jax.tree.map(ops.convert_to_tensor, initializer)
    return jax.lax.scan(lambda total, x: (fn(total, x), None), start, elems, reverse=reverse)[0]


def _temporal_padding(x: TensorLike, padding: Sequence[int] = (1, 1)) -> Any:
    return ops.pad(x, [[0, 0], [*padding], [0, 0]])


def _spatial_padding(
    dimensions: int,
    x: TensorLike,
    padding: Sequence[Sequence[int]] | None = None,
    data_format: str | None = None,
) -> Any:
    sides = [[1, 1]] * dimensions if padding is None else [[*pair] for pair in padding]
    first = (data_format or keras.config.image_data_format()) == "channels_first"
    outer = [[0, 0], [0, 0], *sides] if first else [[0, 0], *sides, [0, 0]]
    return ops.pad(x, outer)


def _random_variable(
    draw: Callable[..., Any],
    shape: ShapeLike,
    first: float,
    second: float,
    dtype: DTypeLike = None,
    name: str | None = None,
    seed: int | None = None,
) -> Any:
    return keras.Variable(draw(shape, first, second, dtype, seed), name=name)


def _convolution(
    convolve: Callable[..., Any],
    x: TensorLike,
    kernel: TensorLike,
    strides: int | Sequence[int] = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: int | Sequence[int] = 1,
) -> Any:
    if padding == "causal":  # of one dimension only
        size = (kernel.shape[0] - 1) * int(np.ravel(dilation_rate)[0])
        x, padding = _temporal_padding(x, (size, 0)), "valid"
    return convolve(x, kernel, strides, padding, data_format, dilation_rate)


def _pool(
    x: TensorLike,
    pool_size: int | Sequence[int],
    strides: int | Sequence[int] = 1,
    padding: str = "valid",
    data_format: str | None = None,
    pool_mode: str = "max",
) -> Any:
    pool = {"max": ops.max_pool, "avg": ops.average_pool}.get(pool_mode)
    if pool is None:
        raise ValueError(f"pool_mode must be 'max' or 'avg', but it is {pool_mode!r}.")
    return pool(x, pool_size, strides, padding, data_format)


def _separable_convolution(
    x: TensorLike,
    depthwise_kernel: TensorLike,
    pointwise_kernel: TensorLike,
    strides: int | Sequence[int] = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: int | Sequence[int] = 1,
) -> Any:
    convolve: Any = ops.separable_conv  # its annotations leave out sequences
    return convolve(
        x, depthwise_kernel, pointwise_kernel, strides, padding, data_format, dilation_rate
    )


def _resize_images(
    x: TensorLike,
    height_factor: int,
    width_factor: int,
    data_format: str,
    interpolation: str = "nearest",
) -> Any:
    rows = 2 if data_format == "channels_first" else 1
    size = (x.shape[rows] * height_factor, x.shape[rows + 1] * width_factor)
    return ops.image.resize(x, size, interpolation, data_format=data_format)


def _resize_volumes(
    x: TensorLike, depth_factor: int, height_factor: int, width_factor: int, data_format: str
) -> Any:
    first = 2 if data_format == "channels_first" else 1
    for axis, factor in enumerate((depth_factor, height_factor, width_factor), first):
        x = ops.repeat(x, factor, axis)
    return x


def _cast_to_floatx(x: TensorLike) -> Any:
    dtype = keras.config.floatx()
    arrays = (keras.Variable, Variable, jax.Array)
    return ops.cast(x, dtype) if isinstance(x, arrays) else np.asarray(x, dtype)


TABLE: dict[str, Any] = {
    "batch_get_value": batch_get_value,
    "batch_set_value": batch_set_value,
    "categorical_crossentropy": ops.categorical_crossentropy,
    "cast_to_floatx": _cast_to_floatx,
    "categorical_focal_crossentropy": lambda target, output, alpha=0.25, gamma=2.0, from_logits=False, axis=-1: (
        keras.losses.categorical_focal_crossentropy(
            target, output, alpha, gamma, from_logits, axis=axis
        )
    ),
    "concatenate": lambda tensors, axis=-1: ops.concatenate(tensors, axis),
    **dict.fromkeys(("conv1d", "conv2d", "conv3d"), functools.partial(_convolution, ops.conv)),
    "count_params": lambda x: int(np.prod(x.shape)),
    "depthwise_conv2d": functools.partial(_convolution, ops.depthwise_conv),
    "dot": lambda x, y: jnp.dot(jnp.asarray(x), jnp.asarray(y)),
    "dropout": lambda x, level, noise_shape=None, seed=None: keras.random.dropout(
        x, level, noise_shape, seed
    ),
    "dtype": lambda x: keras.config.floatx() if isinstance(x, float) else str(x.dtype),
    "eval": get_value,
    "foldl": functools.partial(_fold, False),
    "foldr": functools.partial(_fold, True),
    "gather": lambda reference, indices: ops.take(reference, indices, axis=0),
    "get_value": get_value,
    "in_top_k": lambda predictions, targets, k: ops.in_top_k(targets, predictions, k),
    "int_shape": lambda x: tuple(x.shape),
    "is_sparse": lambda tensor: False,
    "map_fn": lambda fn, elems, name=None, dtype=None: ops.map(fn, elems),
    "mean": functools.partial(_floating, ops.mean),
    "ndim": ops.ndim,
    "ones": functools.partial(_filled, ops.ones),
    "pool2d": _pool,
    "pool3d": _pool,
    "random_bernoulli": lambda shape, p=0.0, dtype=None, seed=None: ops.cast(
        keras.random.uniform(shape, seed=seed) <= p, dtype or keras.config.floatx()
    ),
    "random_normal": functools.partial(_normal, random.normal),
    "random_normal_variable": functools.partial(
        _random_variable, functools.partial(_normal, random.normal)
    ),
    "random_uniform": _uniform,
    "random_uniform_variable": functools.partial(_random_variable, _uniform),
    "repeat": lambda x, n: ops.repeat(ops.expand_dims(x, 1), n, axis=1),
    "repeat_elements": lambda x, rep, axis: ops.repeat(x, rep, axis),
    "resize_images": _resize_images,
    "resize_volumes": _resize_volumes,
    "separable_conv2d": _separable_convolution,
    "set_value": set_value,
    "shape": ops.shape,
    "softmax": lambda x, axis=-1: ops.softmax(x, axis),
    "softsign": ops.softsign,
    "sparse_categorical_crossentropy": ops.sparse_categorical_crossentropy,
    "spatial_2d_padding": functools.partial(_spatial_padding, 2),
    "spatial_3d_padding": functools.partial(_spatial_padding, 3),
    "std": functools.partial(_floating, ops.std),
    "switch": _switch,
    "temporal_padding": _temporal_padding,
    "to_dense": lambda tensor: tensor,
    "truncated_normal": functools.partial(_normal, random.truncated_normal),
    "update": functools.partial(_assigned, "assign"),
    "update_add": functools.partial(_assigned, "assign_add"),
    "update_sub": functools.partial(_assigned, "assign_sub"),
    "var": functools.partial(_floating, ops.var),
    "variable": lambda value, dtype=None, name=None, constraint=None: keras.Variable(
        jnp.asarray(value, dtype or keras.config.floatx()), name=name
    ),
    "zeros": functools.partial(_filled, ops.zeros),
}
