"""`tf.compat.v1.nn`: functions of `tf.nn` with the parameters that TensorFlow 1 has, and what only it has."""

from typing import Any

import jax
import jax.numpy as jnp

from frontends.tf import nn
from frontends.tf._names import attributes, defined_in
from frontends.tf._symbolic import recordable
from frontends.tf._typing import Axis, ShapeLike, TensorLike
from frontends.tf.compat.v1 import rnn, rnn_cell
from frontends.tf.ops import windows
from frontends.tf.ops.convert import convert_to_tensor
from frontends.tf.ops.indexing import gather


def dropout(
    x: TensorLike,
    keep_prob: TensorLike = None,
    noise_shape: ShapeLike = None,
    seed: int | None = None,
    name: str | None = None,
    rate: TensorLike = None,
) -> jax.Array:
    """Zeroes a fraction of the elements, and scales up the rest.

    Args:
        x: floats of any shape.
        keep_prob: the fraction that stays.
        noise_shape: of the choices, which broadcast.
        seed: of this operation.
        rate: the fraction that goes, instead of `keep_prob`.

    Raises:
        ValueError: both fractions are given, or none.

    Source: `tf.compat.v1.nn.dropout`.
    """
    if (keep_prob is None) == (rate is None):
        raise ValueError(
            "`rate` must be provided, or keep_prob, and not both: tf.nn.dropout(x, rate=0.5)."
        )
    gone = rate if keep_prob is None else 1.0 - keep_prob
    return nn.dropout(x, gone, noise_shape, seed)


def moments(
    x: TensorLike,
    axes: Axis,
    shift: object = None,
    name: str | None = None,
    keep_dims: bool | None = None,
    keepdims: bool | None = None,
) -> tuple[jax.Array, jax.Array]:
    """Computes mean and variance.

    Args:
        x: of any shape.
        axes: over which.
        shift: accepted, and not used, as in TensorFlow.
        keep_dims: whether these axes stay, of size 1.
        keepdims: the same.

    Source: `tf.compat.v1.nn.moments`.
    """
    return nn.moments(x, axes, keepdims=bool(keepdims or keep_dims))


def softmax_cross_entropy_with_logits_v2(
    labels: TensorLike,
    logits: TensorLike,
    axis: int | None = None,
    name: str | None = None,
    dim: int | None = None,
) -> jax.Array:
    """Computes the cross entropy of probabilities and logits, one number an example.

    Args:
        labels: probabilities of the classes.
        logits: of their shape.
        axis: of the classes; None means the last.
        dim: the same.

    Source: `tf.compat.v1.nn.softmax_cross_entropy_with_logits_v2`.
    """
    along = dim if axis is None else axis
    return nn.softmax_cross_entropy_with_logits(labels, logits, -1 if along is None else along)


def softmax_cross_entropy_with_logits(
    labels: TensorLike,
    logits: TensorLike,
    dim: int = -1,
    name: str | None = None,
    axis: int | None = None,
) -> jax.Array:
    """Computes the cross entropy of probabilities and logits; no gradient flows to the labels.

    Args:
        labels: probabilities of the classes.
        logits: of their shape.
        dim: axis of the classes.
        axis: the same.

    Source: `tf.compat.v1.nn.softmax_cross_entropy_with_logits`.
    """
    fixed = jax.lax.stop_gradient(convert_to_tensor(labels))
    return nn.softmax_cross_entropy_with_logits(fixed, logits, dim if axis is None else axis)


def sparse_softmax_cross_entropy_with_logits(
    labels: TensorLike,
    logits: TensorLike,
    name: str | None = None,
) -> jax.Array:
    """Computes the cross entropy of class numbers and logits, one number an example.

    Args:
        labels: numbers of classes.
        logits: with one axis more.

    Source: `tf.compat.v1.nn.sparse_softmax_cross_entropy_with_logits`.
    """
    return nn.sparse_softmax_cross_entropy_with_logits(labels, logits)


def sigmoid_cross_entropy_with_logits(
    labels: TensorLike,
    logits: TensorLike,
    name: str | None = None,
) -> jax.Array:
    """Computes the cross entropy of independent probabilities and logits, one number an entry.

    Args:
        labels: probabilities.
        logits: of their shape.

    Source: `tf.compat.v1.nn.sigmoid_cross_entropy_with_logits`.
    """
    return nn.sigmoid_cross_entropy_with_logits(labels, logits)


def conv2d(
    input: TensorLike,
    filter: TensorLike = None,
    strides: ShapeLike = None,
    padding: windows.Padding | None = None,
    use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC",
    dilations: ShapeLike = (1, 1, 1, 1),
    name: str | None = None,
    filters: TensorLike = None,
) -> jax.Array:
    """Convolves images.

    Args:
        input: images.
        filter: shape `[height, width, channels in, channels out]`.
        strides: a number, two, or one for each axis.
        padding: `"SAME"`, `"VALID"`, or sizes before and after each axis.
        use_cudnn_on_gpu: accepted, and not used.
        data_format: `"NHWC"` or `"NCHW"`.
        dilations: in the form of `strides`.
        filters: the same as `filter`.

    Source: `tf.compat.v1.nn.conv2d`.
    """
    kernel = filters if filter is None else filter
    return nn.conv2d(
        *(input, kernel, 1 if strides is None else strides, padding or "VALID"),
        *(data_format, dilations),
    )


def max_pool(
    value: TensorLike,
    ksize: ShapeLike = None,
    strides: ShapeLike = None,
    padding: windows.Padding = "VALID",
    data_format: str = "NHWC",
    name: str | None = None,
    input: TensorLike = None,
) -> jax.Array:
    """Takes the largest number of each window; see `tf.nn.max_pool`.

    Args:
        value: images.
        ksize: size of the window.
        strides: distances of the windows.
        padding: `"SAME"` or `"VALID"`.
        data_format: `"NHWC"` or `"NCHW"`.
        input: the same as `value`.

    Source: `tf.compat.v1.nn.max_pool`.
    """
    return nn.max_pool(value if input is None else input, ksize, strides, padding, data_format)


def avg_pool(
    value: TensorLike,
    ksize: ShapeLike = None,
    strides: ShapeLike = None,
    padding: windows.Padding = "VALID",
    data_format: str = "NHWC",
    name: str | None = None,
    input: TensorLike = None,
) -> jax.Array:
    """Takes the mean of each window; see `max_pool`.

    Source: `tf.compat.v1.nn.avg_pool`.
    """
    return nn.avg_pool(value if input is None else input, ksize, strides, padding, data_format)


def embedding_lookup(
    params: Any,
    ids: TensorLike,
    partition_strategy: str = "mod",
    name: str | None = None,
    validate_indices: bool = True,
    max_norm: float | None = None,
) -> Any:
    """Takes rows of a table, or of one that is divided into several.

    Args:
        params: a table, or a list of its parts.
        ids: numbers of rows.
        partition_strategy: how rows are dealt to the parts: `"mod"`, in turns, or `"div"`, one part after another.
        validate_indices: accepted, and not used.
        max_norm: norm down to which rows are scaled; None leaves them.

    Raises:
        ValueError: the strategy is another one.

    Source: `tf.compat.v1.nn.embedding_lookup`.
    """
    parts = list(params) if isinstance(params, list | tuple) else [params]
    if partition_strategy not in ("mod", "div"):
        raise ValueError(
            f"Unrecognized partition strategy: {partition_strategy}. Must be one of either `mod` or `div`."
        )
    if len(parts) > 1:
        arrays = [convert_to_tensor(part) for part in parts]
        table = jnp.concatenate(arrays)
        if partition_strategy == "mod":
            count = len(parts)
            starts = jnp.cumsum(jnp.array([0, *(len(one) for one in arrays[:-1])]))
            rows = convert_to_tensor(ids)
            ids = gather(starts, rows % count) + rows // count
        parts = [table]
    return nn.embedding_lookup(parts[0], ids, max_norm)


def xw_plus_b(
    x: TensorLike, weights: TensorLike, biases: TensorLike, name: str | None = None
) -> jax.Array:
    """Computes `x @ weights + biases`.

    Args:
        x: shape (rows, inputs).
        weights: shape (inputs, outputs).
        biases: shape (outputs,).

    Source: `tf.compat.v1.nn.xw_plus_b`.
    """
    return jnp.matmul(convert_to_tensor(x), convert_to_tensor(weights)) + convert_to_tensor(biases)


def relu_layer(
    x: TensorLike, weights: TensorLike, biases: TensorLike, name: str | None = None
) -> jax.Array:
    """Computes `relu(x @ weights + biases)`; see `xw_plus_b`.

    Source: `tf.compat.v1.nn.relu_layer`.
    """
    return nn.relu(xw_plus_b(x, weights, biases))


def fused_batch_norm(
    x: TensorLike,
    scale: TensorLike,
    offset: TensorLike,
    mean: TensorLike = None,
    variance: TensorLike = None,
    epsilon: float = 0.001,
    data_format: str = "NHWC",
    is_training: bool = True,
    name: str | None = None,
    exponential_avg_factor: float = 1.0,
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Normalizes channels by the moments of the batch, or by those that are given.

    Args:
        x: images, of 4 or 5 axes.
        scale: of each channel.
        offset: likewise.
        mean: likewise; in training, the running mean, which counts if `exponential_avg_factor` is not 1.
        variance: likewise.
        epsilon: added to the variance.
        data_format: where the channels are: `"NHWC"`, `"NCHW"`, `"NDHWC"` or `"NCDHW"`.
        is_training: whether by the moments of the batch.
        exponential_avg_factor: how much of the running moments is the batch's.

    Returns:
        The normalized images, and the running mean and variance: those of the batch, whose variance is the unbiased
        one, averaged with those that are given. They have no gradient.

    Raises:
        ValueError: the moments are needed and not given.

    Source: `tf.compat.v1.nn.fused_batch_norm`.
    """
    values = convert_to_tensor(x)
    axis = data_format.index("C")
    needed = not is_training or exponential_avg_factor != 1.0
    if needed and (mean is None or variance is None):
        raise ValueError(
            "mean and variance must be given where is_training is False, or exponential_avg_factor is not 1."
        )
    wide = values.astype(jnp.promote_types(values.dtype, jnp.float32))
    over = [one for one in range(values.ndim) if one != axis]
    if is_training:
        means, variances = wide.mean(over), wide.var(over)
        count = values.size // values.shape[axis]
        unbiased = variances * (count / max(count - 1, 1))
    else:
        means, variances = convert_to_tensor(mean), convert_to_tensor(variance)
        unbiased = variances
    shape = [-1 if one == axis else 1 for one in range(values.ndim)]
    moments_of_batch, factors = (
        [jnp.reshape(convert_to_tensor(one), shape) for one in pair]
        for pair in ((means, variances), (offset, scale))
    )
    normalized = nn.batch_normalization(wide, *moments_of_batch, *factors, epsilon).astype(
        values.dtype
    )
    running = [means, unbiased]
    if is_training and exponential_avg_factor != 1.0:
        given = convert_to_tensor(mean), convert_to_tensor(variance)
        running = [
            old + (new - old) * exponential_avg_factor
            for old, new in zip(given, running, strict=True)
        ]
    return normalized, *(jax.lax.stop_gradient(one) for one in running)


globals().update(recordable("tf.compat.v1.nn", defined_in(__name__)))
__getattr__, __dir__ = attributes(
    "tf.compat.v1.nn",
    defined_in(rnn.__name__) | {"rnn_cell": rnn_cell},
    present=defined_in(__name__),
    rest="frontends.tf.nn",
)
