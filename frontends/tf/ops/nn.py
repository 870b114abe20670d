"""Functions of `tf.nn`: activations, losses of logits, convolutions and pooling.

Images are NHWC, TensorFlow's default, or NCHW where `data_format` says so.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from frontends.tf._typing import Axis, ShapeLike, TensorLike
from frontends.tf.graph import LabelCheck, current_graph, note_check, range_of
from frontends.tf.ops import random, windows
from frontends.tf.ops.clip import clip_by_norm
from frontends.tf.ops.convert import convert_to_tensor, static_axes, static_shape
from frontends.tf.ops.indexing import MISSING_ROW, gather
from frontends.tf.ops.positions import existing
from spmd._jax_internals import is_interposed

_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772, 1.0507009873554805


def leaky_relu(features: TensorLike, alpha: float = 0.2, name: str | None = None) -> jax.Array:
    """Scales negative entries by `alpha`, which is 0.2 here and 0.01 in JAX."""
    x = convert_to_tensor(features)
    # At zero, the gradient is alpha, in JAX's it is 1.
    return jnp.where(x > 0, x, alpha * x)


def selu(features: TensorLike, name: str | None = None) -> jax.Array:
    """Scaled exponential linear unit."""
    x = convert_to_tensor(features)
    # JAX's has the gradient of the negative side at zero; `x` is not infinite in the exponential.
    return _SELU_SCALE * jnp.where(x >= 0, x, _SELU_ALPHA * jnp.expm1(jnp.where(x >= 0, 0, x)))


def gelu(features: TensorLike, approximate: bool = False, name: str | None = None) -> jax.Array:
    """Gaussian error linear unit, exact unless asked; JAX's default is the approximation."""
    return jax.nn.gelu(convert_to_tensor(features), approximate=approximate)


def silu(features: TensorLike, beta: float = 1.0) -> jax.Array:
    """`x * sigmoid(beta * x)`."""
    x = convert_to_tensor(features)
    return x * jax.nn.sigmoid(beta * x)


def softmax(logits: TensorLike, axis: int | None = None, name: str | None = None) -> jax.Array:
    """Exponentials, scaled to add up to 1 along an axis, the last one by default."""
    return jax.nn.softmax(convert_to_tensor(logits), -1 if axis is None else axis)


def log_softmax(logits: TensorLike, axis: int | None = None, name: str | None = None) -> jax.Array:
    """Logarithm of `softmax`."""
    return jax.nn.log_softmax(convert_to_tensor(logits), -1 if axis is None else axis)


def softmax_cross_entropy_with_logits(
    labels: TensorLike, logits: TensorLike, axis: int = -1, name: str | None = None
) -> jax.Array:
    """Cross entropy of probabilities `labels` and logits, one number an example."""
    scores = convert_to_tensor(logits)
    targets = jnp.asarray(convert_to_tensor(labels), scores.dtype)
    loss = -jnp.sum(targets * jax.nn.log_softmax(scores, axis), axis=axis)
    # TensorFlow's gradient is softmax - labels also where labels do not add up to 1. This adds zero,
    # and to the gradient what is missing from that.
    total = jax.nn.logsumexp(scores, axis)
    missing = jax.lax.stop_gradient(1 - jnp.sum(targets, axis=axis))
    return loss + missing * (total - jax.lax.stop_gradient(total))


def sparse_softmax_cross_entropy_with_logits(
    labels: TensorLike, logits: TensorLike, name: str | None = None
) -> jax.Array:
    """Cross entropy of class numbers `labels` and logits; NaN for a class that does not exist.

    Raises:
        TypeError: labels are no whole numbers.
        ValueError: they do not have the shape of the logits, but for the last axis.
    """
    scores, classes = jax.nn.log_softmax(convert_to_tensor(logits)), convert_to_tensor(labels)
    caller = "tf.nn.sparse_softmax_cross_entropy_with_logits"
    if not jnp.issubdtype(classes.dtype, jnp.integer):
        raise TypeError(
            f"{caller}: labels must be whole numbers, the classes, but are {classes.dtype}. Write tf.cast(labels, tf.int32)."
        )
    if classes.shape != scores.shape[:-1]:
        raise ValueError(
            f"{caller}: labels must have the shape {scores.shape[:-1]}, that of logits {scores.shape} without the classes, but have "
            f"{classes.shape}. Take away an axis of size 1 by tf.squeeze(labels, -1); make one-hot labels numbers by "
            "tf.argmax(labels, -1)."
        )
    if current_graph() is not None:
        _note_classes(classes, scores.shape[-1])
    valid = (classes >= 0) & (classes < scores.shape[-1])
    chosen = jnp.where(valid, classes, 0)[..., None]
    return -jnp.where(valid, jnp.take_along_axis(scores, chosen, axis=-1)[..., 0], jnp.nan)


def _note_classes(classes: jax.Array, count: int) -> None:
    """Has a step of a model function find what classes there are, for an error that says why a loss is NaN."""
    rule = f"tf.nn.sparse_softmax_cross_entropy_with_logits: labels must be from 0 to {count - 1}, as logits have {count} classes"
    note_check(
        LabelCheck(
            range_of(classes), count - 1, rule, rule, "Check the labels that input_fn gives."
        )
    )


def sigmoid_cross_entropy_with_logits(
    labels: TensorLike = None, logits: TensorLike = None, name: str | None = None
) -> jax.Array:
    """Cross entropy of independent probabilities `labels` and logits, one number an entry."""
    scores = convert_to_tensor(logits)
    targets = jnp.asarray(convert_to_tensor(labels), scores.dtype)
    if targets.shape != scores.shape:
        raise ValueError(
            "tf.nn.sigmoid_cross_entropy_with_logits: `logits` and `labels` must have the same shape, "
            f"received {scores.shape} and {targets.shape}. Reshape one: tf.reshape(labels, logits.shape)."
        )
    # One choice for both, so that the gradient at zero is right: 0.5 - label.
    positive = scores >= 0
    softplus = jnp.log1p(jnp.exp(jnp.where(positive, -scores, scores)))
    return jnp.where(positive, scores, 0) - scores * targets + softplus


def l2_loss(t: TensorLike, name: str | None = None) -> jax.Array:
    """Half of the sum of squares."""
    return jnp.sum(jnp.square(convert_to_tensor(t))) / 2


def dropout(
    x: TensorLike,
    rate: TensorLike,
    noise_shape: ShapeLike = None,
    seed: int | None = None,
    name: str | None = None,
) -> jax.Array:
    """Zeroes a fraction of the elements, and scales up the rest; see `tf.nn.dropout`.

    Raises:
        ValueError: `rate` is known and not in [0, 1), or `x` is not floating point.
    """
    rate = _known_rate(rate)
    if isinstance(rate, float) and not 0 <= rate < 1:
        raise ValueError(f"`rate` must be a scalar in the range [0, 1). Received: rate={rate}.")
    x = jnp.asarray(x)
    if not jnp.issubdtype(x.dtype, jnp.floating):
        raise ValueError(
            f"x has to be a floating point array since it will be scaled, but is of type {x.dtype}. "
            "Convert it: tf.cast(x, tf.float32)."
        )
    if isinstance(rate, float) and rate == 0:
        return x
    asked = x.shape if noise_shape is None else noise_shape
    sizes = zip(x.shape, asked, strict=True)
    shape = static_shape([own if size is None else size for own, size in sizes])
    keep = 1 - rate
    kept = random.uniform(shape, seed=seed) < keep
    return jnp.where(kept, x / jnp.asarray(keep, x.dtype), jnp.zeros_like(x))


def _known_rate(rate: TensorLike) -> float | jax.Array:
    """Returns a rate of dropout: a number, or an array that only a program knows."""
    if isinstance(rate, int | float):
        return float(rate)
    made = convert_to_tensor(rate)
    return made if isinstance(made, Tracer) else float(made)


def bias_add(
    value: TensorLike, bias: TensorLike, data_format: str | None = None, name: str | None = None
) -> jax.Array:
    """Adds a bias to the channels: the last axis, or axis 1 for `"NC..."`."""
    x, offsets = convert_to_tensor(value), convert_to_tensor(bias)
    if (data_format or "").startswith("NC"):
        offsets = offsets.reshape(-1, *(1,) * (x.ndim - 2))
    return x + offsets


def moments(
    x: TensorLike,
    axes: Axis,
    shift: ShapeLike = None,
    keepdims: bool = False,
    name: str | None = None,
) -> tuple[jax.Array, jax.Array]:
    """Mean and variance."""
    values, over = convert_to_tensor(x), static_axes(axes)
    return values.mean(over, keepdims=keepdims), values.var(over, keepdims=keepdims)


def batch_normalization(
    x: TensorLike,
    mean: TensorLike,
    variance: TensorLike,
    offset: TensorLike,
    scale: TensorLike,
    variance_epsilon: float,
    name: str | None = None,
) -> jax.Array:
    """`(x - mean) / sqrt(variance + epsilon) * scale + offset`; the last two may be None."""
    values = convert_to_tensor(x)
    factor = jax.lax.rsqrt(convert_to_tensor(variance) + variance_epsilon)
    factor = factor if scale is None else factor * convert_to_tensor(scale)
    shift = -convert_to_tensor(mean) * factor
    shift = shift if offset is None else shift + convert_to_tensor(offset)
    # In the dtype of the values: moments may be float32 where those are bfloat16.
    return values * factor.astype(values.dtype) + shift.astype(values.dtype)


def embedding_lookup(
    params: TensorLike, ids: TensorLike, max_norm: float | None = None, name: str | None = None
) -> Any:
    """Takes rows of a table, scaled down to a norm of `max_norm` if that is given."""
    rows = gather(_table(params), ids)
    if max_norm is None:
        return rows
    return clip_by_norm(rows, max_norm, axes=list(range(np.ndim(ids), rows.ndim)))


def embedding_lookup_once(params: TensorLike, ids: jax.Array, max_norm: float | None) -> Any:
    """Takes rows of a table as `embedding_lookup` does, and zeros for negative ids, which stand for none.

    While a tape records, each row is taken once, and then repeated: so the gradient has each row once, as in TensorFlow, and
    its norm is that of these.

    Args:
        params: the table.
        ids: numbers of rows.
        max_norm: see `embedding_lookup`.
    """
    table, flat = convert_to_tensor(_table(params)), ids.reshape(-1)
    size = table.shape[0]
    (numbers,) = existing([jnp.maximum(flat, 0)], (size,), MISSING_ROW)
    numbers, places = jnp.where(flat < 0, size, numbers), None
    if is_interposed():
        numbers, places = jnp.unique(numbers, size=flat.size, fill_value=size, return_inverse=True)
    rows = table.at[numbers].get(mode="fill", fill_value=0)
    if max_norm is not None:
        rows = clip_by_norm(rows, max_norm, axes=list(range(1, rows.ndim)))
    rows = rows if places is None else rows[places.reshape(-1)]
    is_missing = (flat >= size).reshape(-1, *[1] * (rows.ndim - 1))
    return jnp.where(is_missing, jnp.nan, rows).reshape(*ids.shape, *table.shape[1:])


def _table(params: TensorLike) -> TensorLike:
    if not isinstance(params, list | tuple):
        return params
    if len(params) != 1:
        raise ValueError(
            f"tf.nn.embedding_lookup: expected one table, got {len(params)}. "
            "Join them: tf.concat(params, axis=0)."
        )
    return params[0]


def conv2d(
    input: TensorLike,
    filters: TensorLike,
    strides: ShapeLike,
    padding: windows.Padding,
    data_format: str = "NHWC",
    dilations: ShapeLike = None,
    name: str | None = None,
) -> jax.Array:
    """Convolves images with filters of shape `[height, width, channels in, channels out]`."""
    x, kernel = convert_to_tensor(input), convert_to_tensor(filters)
    return windows.convolution(x, kernel, strides, padding, data_format, dilations)


def max_pool2d(
    input: TensorLike,
    ksize: ShapeLike,
    strides: ShapeLike,
    padding: windows.Padding,
    data_format: str | None = "NHWC",
    name: str | None = None,
) -> jax.Array:
    """Takes the largest number of each window."""
    x = convert_to_tensor(input)
    return windows.max_pool(x, ksize, strides, padding, data_format or "NHWC")


def avg_pool2d(
    input: TensorLike,
    ksize: ShapeLike,
    strides: ShapeLike,
    padding: windows.Padding,
    data_format: str | None = "NHWC",
    name: str | None = None,
) -> jax.Array:
    """Takes the mean of each window, padding left out."""
    x = convert_to_tensor(input)
    return windows.avg_pool(x, ksize, strides, padding, data_format or "NHWC")


def depth_to_space(
    input: TensorLike, block_size: int, data_format: str = "NHWC", name: str | None = None
) -> jax.Array:
    """Rearranges channels into blocks: `[n, h, w, c]` becomes `[n, h * b, w * b, c / b**2]`."""
    x, b = _channels_last(input, data_format), block_size
    n, height, width, channels = x.shape
    x = x.reshape(n, height, width, b, b, channels // b**2).transpose(0, 1, 3, 2, 4, 5)
    return _in_format(x.reshape(n, height * b, width * b, channels // b**2), data_format)


def space_to_depth(
    input: TensorLike, block_size: int, data_format: str = "NHWC", name: str | None = None
) -> jax.Array:
    """Rearranges blocks into channels: `[n, h, w, c]` becomes `[n, h / b, w / b, c * b**2]`."""
    x, b = _channels_last(input, data_format), block_size
    n, height, width, channels = x.shape
    x = x.reshape(n, height // b, b, width // b, b, channels).transpose(0, 1, 3, 2, 4, 5)
    return _in_format(x.reshape(n, height // b, width // b, channels * b**2), data_format)


def _channels_last(input: TensorLike, data_format: str) -> jax.Array:
    x = convert_to_tensor(input)
    return x if data_format == "NHWC" else x.transpose(0, 2, 3, 1)


def _in_format(x: jax.Array, data_format: str) -> jax.Array:
    return x if data_format == "NHWC" else x.transpose(0, 3, 1, 2)
