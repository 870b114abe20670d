"""Shapes of labels, predictions and weights of TensorFlow 1's losses and metrics; rows of padding weigh nothing."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf._typing import TensorLike
from frontends.tf.ops.convert import convert_to_tensor
from spmd.replica import current_frame, masks_of_length


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
            "Reshape the labels: tf.reshape(labels, predictions.shape)."
        )


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


def valid(values: jax.Array) -> Any:
    """Tells which rows of values are data and no padding, as an array that broadcasts to them.

    Returns:
        Booleans, `[rows, 1, ...]`; True if the values are not those of the rows of one batch, of which no row is padding.
    """
    frame = current_frame()
    if frame is None or not frame.masks or not values.ndim:
        return np.True_
    fitting = masks_of_length(frame.masks, values.shape[0])
    if len(fitting) != 1:
        return np.True_
    return fitting[0].rows.reshape(-1, *[1] * (values.ndim - 1))


def valid_weights(weights: TensorLike, values: jax.Array) -> jax.Array:
    """Broadcasts weights (None: one each) to values, with zeros for padding; see `fitted`."""
    array = jnp.ones((), jnp.float32) if weights is None else fitted(weights, values)
    return jnp.where(valid(values), jnp.broadcast_to(array, values.shape), 0)
