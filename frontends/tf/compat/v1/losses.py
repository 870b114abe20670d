"""`tf.compat.v1.losses`: weighted losses, which a model function collects.

A loss is a number: the mean over the elements whose weights are not zero, by default. In a replica it is the mean over
the replica's own rows, as in TensorFlow, and padding of a partial batch is left out. In a model function losses are
appended to a collection, `tf.GraphKeys.LOSSES` by default; elsewhere nobody would clear it, and they are not.
"""

import contextlib
from collections.abc import Generator, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from frontends.tf import nn
from frontends.tf._names import attributes, defined_in
from frontends.tf._typing import TensorLike
from frontends.tf._valid_rows import valid
from frontends.tf.compat.v1._weights import broadcastable, require_shape, squeezed
from frontends.tf.compat.v1.collections import GraphKeys, add_to_collection, get_collection
from frontends.tf.graph import current_graph
from frontends.tf.ops.convert import convert_to_tensor
from frontends.tf.ops.math import (
    abs_,
    add_n,
    divide_no_nan,
    maximum_,
    minimum_,
    squared_difference_,
)
from frontends.tf.ops.name_scope import in_name_scope, name_scope


class Reduction:
    """How the losses of elements become one.

    Attributes:
        NONE: they stay as they are, multiplied by their weights.
        SUM: their weighted sum.
        SUM_OVER_BATCH_SIZE: that, divided by the number of elements.
        MEAN: that, divided by the sum of the weights.
        SUM_BY_NONZERO_WEIGHTS: that, divided by the number of elements whose weights are not zero.
        SUM_OVER_NONZERO_WEIGHTS: the same.

    Source: `tf.compat.v1.losses.Reduction`.
    """

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
    SUM_OVER_NONZERO_WEIGHTS = SUM_BY_NONZERO_WEIGHTS

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """Lists all reductions."""
        return (
            cls.NONE,
            cls.SUM,
            cls.MEAN,
            cls.SUM_OVER_BATCH_SIZE,
            cls.SUM_OVER_NONZERO_WEIGHTS,
            cls.SUM_BY_NONZERO_WEIGHTS,
        )

    @classmethod
    def validate(cls, key: str) -> None:
        """Refuses what is no reduction.

        Raises:
            ValueError: it is none.
        """
        if key not in cls.all():
            raise ValueError(
                f"Invalid Reduction Key {key}. Key should be one of {cls.all()}: write tf.losses.Reduction.SUM."
            )


def compute_weighted_loss(
    losses: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> jax.Array:
    """Multiplies losses by weights, reduces them to one, and collects it.

    Args:
        losses: shape `[rows, ...]`.
        weights: one number, or an array of as many axes, each of size 1 or that of the losses.
        scope: before the name of the loss.
        loss_collection: see `add_loss`.
        reduction: see `Reduction`.

    Returns:
        A scalar of the dtype of the losses; with `Reduction.NONE` an array of their shape, padding included. A mean
        over no elements is 0.

    Raises:
        ValueError: the shape of the weights does not fit, or there is no such reduction.

    Examples:
        >>> float(compute_weighted_loss([1.0, 2.0, 6.0], [1.0, 0.0, 1.0]))
        3.5

    Source: `tf.compat.v1.losses.compute_weighted_loss`.
    """
    with _scope(scope, "weighted_loss"):
        return _reduced(losses, weights, loss_collection, reduction)


def absolute_difference(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> jax.Array:
    """Absolute difference; see `compute_weighted_loss`.

    Args:
        labels: an array.
        predictions: an array of the same shape.

    Raises:
        ValueError: the shapes differ, or see `compute_weighted_loss`.

    Source: `tf.compat.v1.losses.absolute_difference`.
    """
    with _scope(scope, "absolute_difference"):
        targets, outputs = _pair("absolute_difference", labels, predictions)
        return _reduced(abs_(outputs - targets), weights, loss_collection, reduction)


def cosine_distance(
    labels: TensorLike,
    predictions: TensorLike,
    axis: int | None = None,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
    dim: int | None = None,
) -> jax.Array:
    """1 minus the cosine of unit vectors; see `compute_weighted_loss`.

    Args:
        labels: vectors of length 1 along `axis`.
        predictions: vectors of length 1, of the same shape.
        axis: of the vectors; the losses have size 1 there.
        dim: the same.

    Raises:
        ValueError: there is no axis, the shapes differ, or see `compute_weighted_loss`.

    Source: `tf.compat.v1.losses.cosine_distance`.
    """
    along = dim if axis is None else axis
    if along is None:
        raise ValueError("cosine_distance: You must specify argument `axis`, such as axis=1.")
    with _scope(scope, "cosine_distance_loss"):
        targets, outputs = _pair("cosine_distance", labels, predictions)
        cosines = jnp.sum(outputs * targets, axis=along, keepdims=True)
        return _reduced(1 - cosines, weights, loss_collection, reduction)


def hinge_loss(
    labels: TensorLike,
    logits: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> jax.Array:
    """Hinge loss; see `compute_weighted_loss`.

    Args:
        labels: 0 or 1.
        logits: an array of the same shape.

    Raises:
        ValueError: the shapes differ, or see `compute_weighted_loss`.

    Source: `tf.compat.v1.losses.hinge_loss`.
    """
    with _scope(scope, "hinge_loss"):
        targets, scores = _pair("hinge_loss", labels, logits)
        losses = jax.nn.relu(1 - (2 * targets - 1) * scores)
        return _reduced(losses, weights, loss_collection, reduction)


def huber_loss(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike = 1.0,
    delta: float = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> jax.Array:
    """Half of the squared difference up to `delta`, linear from there on; see `compute_weighted_loss`.

    Args:
        labels: an array.
        predictions: an array of the same shape.
        delta: where it becomes linear.

    Raises:
        ValueError: the shapes differ, or see `compute_weighted_loss`.

    Source: `tf.compat.v1.losses.huber_loss`.
    """
    with _scope(scope, "huber_loss"):
        targets, outputs = _pair("huber_loss", labels, predictions)
        error = abs_(outputs - targets)
        quadratic = minimum_(error, delta)
        losses = 0.5 * quadratic * quadratic + delta * (error - quadratic)
        return _reduced(losses, weights, loss_collection, reduction)


def log_loss(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike = 1.0,
    epsilon: float = 1e-7,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> jax.Array:
    """Cross entropy of probabilities; see `compute_weighted_loss`.

    Args:
        labels: 0 to 1.
        predictions: probabilities, of the same shape.
        epsilon: added before the logarithm.

    Raises:
        ValueError: the shapes differ, or see `compute_weighted_loss`.

    Source: `tf.compat.v1.losses.log_loss`.
    """
    with _scope(scope, "log_loss"):
        targets, outputs = _pair("log_loss", labels, predictions)
        losses = -targets * jnp.log(outputs + epsilon)
        losses -= (1 - targets) * jnp.log(1 - outputs + epsilon)
        return _reduced(losses, weights, loss_collection, reduction)


def mean_pairwise_squared_error(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
) -> jax.Array:
    """Squared differences between the errors of all pairs of elements of a row, averaged, and added up over rows.

    Args:
        labels: shape `[rows, ...]`.
        predictions: an array of the same shape.
        weights: see `compute_weighted_loss`.

    Raises:
        ValueError: the shapes differ, or see `compute_weighted_loss`.

    Source: `tf.compat.v1.losses.mean_pairwise_squared_error`.
    """
    with _scope(scope, "mean_pairwise_squared_error") as name:
        targets, outputs = _pair("mean_pairwise_squared_error", labels, predictions)
        factors, errors = broadcastable(weights, targets), outputs - targets
        axes = tuple(range(1, errors.ndim))
        present = jnp.broadcast_to(factors != 0, errors.shape)
        count = jnp.sum(present, axes, dtype=jnp.float32, keepdims=True)
        squares = jnp.sum(jnp.square(errors), axes, keepdims=True)
        square = jnp.square(jnp.sum(errors, axes, keepdims=True))
        of_rows = divide_no_nan(squares, maximum_(count - 1, 0))
        of_rows -= divide_no_nan(square, maximum_(count * (count - 1), 0))
        kept = valid(errors)
        total = jnp.sum(jnp.where(kept, 2 * of_rows * factors, 0))
        total = jnp.where(jnp.any(jnp.where(kept, present, False)), total, 0)
        # TensorFlow names two quotients on the way to it, too.
        return _collected(total, f"{name}value_2", loss_collection)


def mean_squared_error(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> jax.Array:
    """Squared difference; see `compute_weighted_loss`.

    Args:
        labels: an array.
        predictions: an array of the same shape.

    Raises:
        ValueError: the shapes differ, or see `compute_weighted_loss`.

    Source: `tf.compat.v1.losses.mean_squared_error`.
    """
    with _scope(scope, "mean_squared_error"):
        targets, outputs = _pair("mean_squared_error", labels, predictions)
        losses = squared_difference_(outputs, targets)
        return _reduced(losses, weights, loss_collection, reduction)


def sigmoid_cross_entropy(
    multi_class_labels: TensorLike,
    logits: TensorLike,
    weights: TensorLike = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> jax.Array:
    """Cross entropy of independent classes; see `compute_weighted_loss`.

    Args:
        multi_class_labels: 0 to 1, shape `[rows, classes]`.
        logits: an array of the same shape.
        label_smoothing: how far labels are moved towards 1/2, from 0 to 1.

    Raises:
        ValueError: the shapes differ, or see `compute_weighted_loss`.

    Source: `tf.compat.v1.losses.sigmoid_cross_entropy`.
    """
    with _scope(scope, "sigmoid_cross_entropy_loss"):
        targets, scores = _with_logits("sigmoid_cross_entropy", multi_class_labels, logits)
        if label_smoothing > 0:
            targets = targets * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = nn.sigmoid_cross_entropy_with_logits(labels=targets, logits=scores)
        return _reduced(losses, weights, loss_collection, reduction)


def softmax_cross_entropy(
    onehot_labels: TensorLike,
    logits: TensorLike,
    weights: TensorLike = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> jax.Array:
    """Cross entropy of classes of which one is right; see `compute_weighted_loss`.

    Args:
        onehot_labels: probabilities, shape `[rows, classes]`; they have no gradient.
        logits: an array of the same shape.
        weights: one number, or `[rows]`.
        label_smoothing: how far labels are moved towards 1/classes, from 0 to 1.

    Raises:
        ValueError: the shapes differ, or see `compute_weighted_loss`.

    Source: `tf.compat.v1.losses.softmax_cross_entropy`.
    """
    with _scope(scope, "softmax_cross_entropy_loss"):
        targets, scores = _with_logits("softmax_cross_entropy", onehot_labels, logits)
        if label_smoothing > 0:
            targets = targets * (1 - label_smoothing) + label_smoothing / targets.shape[-1]
        losses = nn.softmax_cross_entropy_with_logits(
            labels=jax.lax.stop_gradient(targets), logits=scores
        )
        return _reduced(losses, weights, loss_collection, reduction)


def sparse_softmax_cross_entropy(
    labels: TensorLike,
    logits: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> jax.Array:
    """Cross entropy of the class of each row; see `compute_weighted_loss`.

    Args:
        labels: numbers of classes, shape `[rows]` or `[rows, 1]`.
        logits: shape `[rows, classes]`.
        weights: one number, `[rows]` or `[rows, 1]`.

    Raises:
        ValueError: the shapes do not fit, or see `compute_weighted_loss`.

    Source: `tf.compat.v1.losses.sparse_softmax_cross_entropy`.
    """
    with _scope(scope, "sparse_softmax_cross_entropy_loss"):
        _require("sparse_softmax_cross_entropy", labels=labels, logits=logits)
        classes, scores = squeezed(labels, logits, extra_axes=1)
        require_shape("sparse_softmax_cross_entropy", classes, scores[..., 0])
        factors = convert_to_tensor(weights)
        if factors.ndim == classes.ndim + 1:
            factors = jnp.squeeze(factors, -1)
        losses = nn.sparse_softmax_cross_entropy_with_logits(labels=classes, logits=scores)
        return _reduced(losses, factors, loss_collection, reduction)


def add_loss(loss: TensorLike, loss_collection: str | None = GraphKeys.LOSSES) -> None:
    """Appends a loss to a collection of the model function; elsewhere does nothing.

    Args:
        loss: what the function has computed.
        loss_collection: its name; None for none.

    Source: `tf.compat.v1.losses.add_loss`.
    """
    if loss_collection and current_graph() is not None:
        add_to_collection(loss_collection, loss)


def get_losses(
    scope: str | None = None, loss_collection: str = GraphKeys.LOSSES
) -> list[jax.Array]:
    """Lists the losses of a collection; see `tf.get_collection`."""
    return get_collection(loss_collection, scope)


def get_regularization_losses(scope: str | None = None) -> list[jax.Array]:
    """Lists the losses of regularizers; see `tf.get_collection`."""
    return get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


def get_regularization_loss(
    scope: str | None = None, name: str = "total_regularization_loss"
) -> jax.Array:
    """Adds up the losses of regularizers; 0 without any.

    Source: `tf.compat.v1.losses.get_regularization_loss`.
    """
    return _total(get_regularization_losses(scope) or [jnp.zeros(())], name)


def get_total_loss(
    add_regularization_losses: bool = True, name: str = "total_loss", scope: str | None = None
) -> jax.Array:
    """Adds up the losses that the model function has collected.

    Args:
        add_regularization_losses: whether those of regularizers are among them.
        name: of the sum.
        scope: see `tf.get_collection`.

    Raises:
        ValueError: there are none.

    Source: `tf.compat.v1.losses.get_total_loss`.
    """
    losses = get_losses(scope)
    if add_regularization_losses:
        losses += get_regularization_losses(scope)
    if not losses:
        raise ValueError(
            "get_total_loss adds up what losses of tf.losses have collected, but there are none. Call one before, in the "
            "same model function, such as tf.losses.mean_squared_error(labels, predictions)."
        )
    return _total(losses, name)


def _total(losses: Sequence[jax.Array], name: str) -> jax.Array:
    total, graph = add_n(losses), current_graph()
    return total if graph is None else graph.named(total, in_name_scope(name))


@contextlib.contextmanager
def _scope(scope: str | None, default: str) -> Generator[str]:
    """Names what a loss makes as TensorFlow does: `mean_squared_error`, then `mean_squared_error_1`."""
    full, graph = in_name_scope(scope or default), current_graph()
    with name_scope(f"{full if graph is None else graph.unique_name(full)}/") as name:
        yield name


def _require(caller: str, **arguments: TensorLike) -> None:
    for name, value in arguments.items():
        if value is None:
            raise ValueError(f"{caller}: Argument `{name}` must not be None.")


def _pair(caller: str, labels: TensorLike, predictions: TensorLike) -> tuple[jax.Array, jax.Array]:
    """Makes labels and predictions float32, and checks that they have one shape."""
    _require(caller, labels=labels, predictions=predictions)
    targets = jnp.asarray(convert_to_tensor(labels), jnp.float32)
    outputs = jnp.asarray(convert_to_tensor(predictions), jnp.float32)
    require_shape(caller, targets, outputs)
    return targets, outputs


def _with_logits(caller: str, labels: TensorLike, logits: TensorLike) -> tuple[Any, Any]:
    """Makes labels of the dtype of logits, and checks that they have one shape."""
    _require(caller, labels=labels, logits=logits)
    scores = convert_to_tensor(logits)
    targets = jnp.asarray(convert_to_tensor(labels), scores.dtype)
    require_shape(caller, targets, scores)
    return targets, scores


def _reduced(
    losses: TensorLike, weights: TensorLike, loss_collection: str | None, reduction: str
) -> jax.Array:
    """See `compute_weighted_loss`."""
    Reduction.validate(reduction)
    graph = current_graph()
    if graph is not None:
        graph.loss_reduction = reduction
    array = convert_to_tensor(losses)
    each = array.astype(jnp.float32)
    factors = broadcastable(weights, each)
    weighted = each * factors
    if reduction == Reduction.NONE:
        return _collected(weighted.astype(array.dtype), in_name_scope("Mul"), loss_collection)
    kept = valid(each)
    total = jnp.sum(jnp.where(kept, weighted, 0))
    if reduction == Reduction.SUM:
        return _collected(total.astype(array.dtype), in_name_scope("Sum"), loss_collection)
    counted = {
        Reduction.MEAN: factors,
        Reduction.SUM_BY_NONZERO_WEIGHTS: (factors != 0).astype(jnp.float32),
        Reduction.SUM_OVER_BATCH_SIZE: jnp.ones((), jnp.float32),
    }[reduction]
    count = jnp.sum(jnp.where(kept, jnp.broadcast_to(counted, each.shape), 0))
    mean = divide_no_nan(total, count).astype(array.dtype)
    return _collected(mean, in_name_scope("value"), loss_collection)


def _collected(loss: jax.Array, name: str, loss_collection: str | None) -> jax.Array:
    """Names a loss as TensorFlow does, and collects it; in a model function only."""
    graph = current_graph()
    if graph is not None:
        loss = graph.named(loss, name)
        add_loss(loss, loss_collection)
    return loss


__getattr__, __dir__ = attributes("tf.compat.v1.losses", defined_in(__name__))
