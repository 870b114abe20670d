"""Labels, logits and weights as a head needs them."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.core import Tracer

from frontends.tf.compat.v1.losses import Reduction
from frontends.tf.feature_column import Features, Texts
from frontends.tf.feature_column.numeric import NumericColumn, numeric_column
from frontends.tf.graph import LabelCheck, note_check, range_of
from frontends.tf.ops.convert import convert_to_tensor

# By what scripts of either TensorFlow write, what the losses of TensorFlow 1 call it.
_REDUCTIONS = {
    "sum": Reduction.SUM,
    "sum_over_batch_size": Reduction.SUM_OVER_BATCH_SIZE,
    "auto": Reduction.SUM_OVER_BATCH_SIZE,
}


def reduction_of(given: Any) -> str:
    """Returns a reduction of `tf.compat.v1.losses`, of one of either TensorFlow.

    Raises:
        ValueError: it is none, or none that makes one number.
    """
    found = _REDUCTIONS.get(given, given)
    if found not in Reduction.all() or found == Reduction.NONE:
        raise ValueError(
            f"Invalid loss_reduction: {given}. Take one of tf.losses.Reduction, such as SUM or SUM_OVER_BATCH_SIZE."
        )
    return found


def check_loss_fn(loss_fn: Callable[..., Any] | None) -> None:
    """Checks what a loss function takes.

    Raises:
        ValueError: it does not take labels and logits, or something that it is not given.
    """
    if loss_fn is None:
        return
    names = [name for name in inspect.signature(loss_fn).parameters if name != "self"]
    for name in ("labels", "logits"):
        if name not in names:
            raise ValueError(f"loss_fn must contain argument: {name}. Given arguments: {names}")
    strange = [
        name for name in names if name not in ("labels", "logits", "features", "loss_reduction")
    ]
    if strange:
        raise ValueError(f"loss_fn has unexpected args: {strange}")


def called_loss(
    loss_fn: Callable[..., Any],
    labels: jax.Array,
    logits: jax.Array,
    features: Any,
    size: int,
) -> jax.Array:
    """Calls a loss function, and checks the shape of what it returns.

    Args:
        loss_fn: takes labels and logits, and features if it has a parameter of that name.
        labels: as the head has made them.
        logits: of the model.
        features: of the batch.
        size: of the last axis of the losses.

    Raises:
        ValueError: the shape is not that of the logits, but for the last axis.
    """
    takes = inspect.signature(loss_fn).parameters
    found = loss_fn(
        labels=labels, logits=logits, **({"features": features} if "features" in takes else {})
    )
    losses = convert_to_tensor(found)
    if losses.shape != (*logits.shape[:-1], size):
        raise ValueError(
            f"loss_fn must return Tensor of shape [D0, D1, ... DN, {size}]. logits_shape: {logits.shape}, loss_shape: "
            f"{losses.shape}"
        )
    return losses


def check_logits(logits: Any, size: int) -> jax.Array:
    """Makes logits float32, and checks their shape.

    Raises:
        ValueError: they have one axis, or their last one another size.
    """
    found = jnp.asarray(convert_to_tensor(logits), jnp.float32)
    if found.ndim < 2 or found.shape[-1] != size:
        raise ValueError(
            f"logits shape must be [D0, D1, ... DN, logits_dimension={size}], got {found.shape}."
        )
    return found


def check_labels(labels: Any, logits: jax.Array, size: int) -> Any:
    """Gives labels the shape of logits, but for the last axis.

    Args:
        labels: an array or `Texts`, with as many axes as the logits or one less.
        logits: of the model.
        size: of the last axis of the labels.

    Raises:
        ValueError: there are none, they are sparse, or have another shape.
    """
    if labels is None:
        raise ValueError(
            "You must provide a labels Tensor. Given: None. Have input_fn return a pair of features and labels."
        )
    if any(hasattr(labels, name) for name in ("dense_shape", "indptr", "nse")):
        raise ValueError(
            f"SparseTensor labels are not supported. Labels must be a Tensor of shape [D0, D1, ..., DN, {size}], "
            f"e.g. [batch_size, {size}]. Make them dense in input_fn."
        )
    found = labels if isinstance(labels, Texts) else convert_to_tensor(labels)
    if found.ndim == logits.ndim - 1:
        found = found.reshape((*found.shape, 1))
    if found.ndim < 2:
        raise ValueError(
            f"labels must have rank at least 2. Received rank {found.ndim}, shape {found.shape}"
        )
    if found.shape[-1] != size:
        raise ValueError(
            f"Mismatched label shape. Expected labels dimension={size}.  Received {found.shape[-1]}. Suggested Fix: check "
            "n_classes or label_dimension of the estimator, and the shape of the labels; classes are numbers, not one-hot."
        )
    if found.shape != (*logits.shape[:-1], size):
        raise ValueError(
            f"labels shape must be [D0, D1, ... DN, {size}], expected_labels_shape: {(*logits.shape[:-1], size)}. "
            f"labels_shape: {found.shape}."
        )
    return found


def check_range(
    labels: jax.Array, count: int, rule: str | None = None, words: Sequence[str] | None = None
) -> jax.Array:
    """Checks that labels are from 0 to below `count`: now, or when the step has run.

    Args:
        labels: numbers.
        count: of the classes.
        rule: beginning of the error; None says which bound is crossed.
        words: of the vocabulary that has made numbers of texts; None without one.

    Raises:
        ValueError: they are not, and are known. In a step of an estimator a hook raises `InvalidArgumentError`.
    """
    remedy = "Check the labels that input_fn gives" + (
        ": classes are numbers from 0 on." if rule is None else "."
    )
    if words is not None:
        remedy = f"-1 is a text that label_vocabulary lacks: it has {[*words]!r}."
    check = LabelCheck(
        range_of(labels),
        count - 1,
        rule or f"Labels must be >= 0 (n_classes={count})",
        rule or f"Labels must be <= {count} - 1 (n_classes={count})",
        remedy,
    )
    if isinstance(check.found, Tracer):
        note_check(check)
    elif (problem := check.problem([check.found])) is not None:
        raise ValueError(problem)
    return labels


def weights_of(
    features: Mapping[str, Any] | None,
    weight_column: Any,
    logits: jax.Array,
    *,
    per_logit: bool = False,
) -> Any:
    """Returns the weights of examples, `[D0, ..., DN, 1]`; 1.0 without a column.

    Args:
        features: of the batch.
        weight_column: key of a feature, or a numeric column; or None.
        logits: of the model.
        per_logit: whether weights may have the shape of the logits.

    Raises:
        TypeError: the column is of another kind.
        ValueError: weights are no numbers, or have another shape.
    """
    if weight_column is None:
        return 1.0
    if isinstance(weight_column, str):
        weight_column = numeric_column(weight_column, shape=(1,))
    if not isinstance(weight_column, NumericColumn):
        raise TypeError(
            f"Weight column must be either a string or NumericColumn. Given type: {type(weight_column)}."
        )
    weights = jnp.asarray(weight_column.dense(Features(features or {})), jnp.float32)
    if weights.ndim == logits.ndim - 1:
        weights = weights[..., None]
    shapes: Sequence[tuple[int, ...]] = [(*logits.shape[:-1], 1)]
    if per_logit:
        shapes = [*shapes, logits.shape]
    if weights.shape not in shapes:
        raise ValueError(
            "weights shape must be [D0, D1, ... DN] or [D0, D1, ... DN, 1]"
            f"{' or that of logits' if per_logit else ''}, logits_shape: {logits.shape}. weights_shape: {weights.shape}."
        )
    return weights
