"""Shapes of labels, predictions and weights of TensorFlow 1's losses and metrics; rows of padding weigh nothing."""

from typing import Any

import jax
import jax.numpy as jnp

from frontends.tf._typing import TensorLike
from frontends.tf._valid_rows import valid
from frontends.tf.ops.convert import convert_to_tensor


def squeezed(labels: TensorLike, predictions: TensorLike, extra_axes: int = 0) -> tuple[Any, Any]:
    """Takes a last axis of size 1 away from that which has an axis too many.

    Args:
        labels: an array.
        predictions: an array.
        extra_axes: how many axes predictions have that labels have not.
    """
    labels, predictions = convert_to_tensor(labels), convert_to_tensor(predictions)
    missing = extra_axes - (predictions.ndim - labels.ndim)
    if missing == -1 and predictions.shape[-1] == 1:
        predictions = predictions[..., 0]
    elif missing == 1 and labels.shape[-1] == 1:
        labels = labels[..., 0]
    return labels, predictions


def require_shape(caller: str, labels: jax.Array, predictions: jax.Array) -> None:
    """Refuses labels of another shape than that of the predictions.

    Raises:
        ValueError: they differ.
    """
    if labels.shape != predictions.shape:
        raise ValueError(
            f"{caller}: shapes {predictions.shape} of predictions and {labels.shape} of labels are incompatible. "
            f"{_advice(labels, predictions)}"
        )


def _advice(labels: jax.Array, predictions: jax.Array) -> str:
    """Says how labels and predictions come to have one shape: only what works for theirs."""
    if labels.size == predictions.size:
        return "Reshape the labels: tf.reshape(labels, predictions.shape)."
    if labels.ndim and predictions.ndim and len(labels) != len(predictions):
        return (
            f"They have {len(labels)} and {len(predictions)} rows: compute both of the same batch."
        )
    if _is_column(labels, predictions):
        column = "labels" if labels.ndim < predictions.ndim else "labels[..., 0]"
        return (
            "For each label there are several predictions. If labels are numbers of classes, compare them with "
            "tf.argmax(predictions, -1) in a metric, and in a loss make them as wide: "
            f"tf.one_hot(tf.cast({column}, tf.int32), {predictions.shape[-1]}). If there is to be one prediction each, let the "
            "last layer have one unit."
        )
    if _is_column(predictions, labels):
        return (
            "For each prediction there are several labels. If these are one-hot, make them numbers of classes: "
            "tf.argmax(labels, -1). If there is to be a prediction for each, let the last layer have "
            f"{labels.shape[-1]} units."
        )
    return "Give both the same shape: a prediction for each label."


def _is_column(one: jax.Array, other: jax.Array) -> bool:
    """Tells whether one array has a single entry where the other has several on its last axis."""
    return one.shape in (other.shape[:-1], (*other.shape[:-1], 1))


def fitted(weights: TensorLike, values: jax.Array) -> jax.Array:
    """Makes weights of one axis more (of size 1) or less than the values have as many axes."""
    array = convert_to_tensor(weights)
    if array.ndim and array.ndim - values.ndim == 1:
        array = jnp.squeeze(array, -1)
    elif array.ndim and values.ndim - array.ndim == 1:
        array = array[..., None]
    return broadcastable(array, values)


def broadcastable(weights: TensorLike, values: jax.Array) -> jax.Array:
    """Makes weights float32, and checks their shape.

    Raises:
        ValueError: they are neither one number, nor of as many axes as the values, each of size 1 or that of the values.
    """
    array = jnp.asarray(convert_to_tensor(weights), jnp.float32)
    sizes = zip(array.shape, values.shape, strict=False)
    if array.ndim and (array.ndim != values.ndim or any(own not in (1, n) for own, n in sizes)):
        raise ValueError(
            f"weights can not be broadcast to values. values.rank={values.ndim}. weights.rank={array.ndim}. "
            f"values.shape={values.shape}. weights.shape={array.shape}. Give one weight, or an array of as many axes as "
            "the values have, each of size 1 or that of the values: weights[:, None]."
        )
    return array


def valid_weights(weights: TensorLike, values: jax.Array) -> jax.Array:
    """Broadcasts weights (None: one each) to values, with zeros for padding; see `fitted`."""
    array = jnp.ones((), jnp.float32) if weights is None else fitted(weights, values)
    return jnp.where(valid(values), jnp.broadcast_to(array, values.shape), 0)
