"""Losses of Keras in replicas: a mean is this replica's share of the mean over the global batch.

The shares add up to what one device computes, and so do their gradients, whatever rows a replica has.

Touches Keras internals, which tests/spmd/integrations/keras/test_losses.py runs on every supported version:
`Model._loss_tracker` and `._compile_loss`, `Layer._flatten_layers` and `._loss_ids`, `get_keras_mask`,
`in_stateless_scope`.
"""

import contextlib
import contextvars
import dataclasses
import functools
from collections.abc import Callable, Generator
from typing import Any

import jax
import jax.numpy as jnp
import keras
from keras.src.backend.common.masking import get_keras_mask
from keras.src.backend.common.stateless_scope import in_stateless_scope

from spmd.assigned import assigned
from spmd.integrations.keras.masking import rows_of, without_padding
from spmd.integrations.keras.methods import with_attributes
from spmd.integrations.keras.typing import Layer, Loss, Method, Metric, Model
from spmd.replica import all_reduce, current_frame
from spmd.typing import ArrayLike, PyTree

_MODEL: Any = keras.Model


@dataclasses.dataclass(frozen=True)
class _Share:
    """How much of a batch is this replica's.

    Attributes:
        valid: which rows of its block are data, or None if the batch has no mask.
        rows: the number of those rows.
        whole: the number of rows of all replicas.
    """

    valid: jax.Array | None
    rows: jax.Array
    whole: jax.Array

    def of(self, loss: jax.Array, fraction: jax.Array | None = None) -> jax.Array:
        """Turns a mean over the replica's rows into its part of the mean over the global batch.

        Args:
            loss: the mean.
            fraction: the part; None for the replica's fraction of the rows.
        """
        fraction = self.rows / self.whole if fraction is None else fraction
        # Without rows the mean may be anything, NaN included.
        return jnp.where(fraction > 0, loss * fraction.astype(loss.dtype), 0)


_REPLICAS: list[Callable[[], int]] = [lambda: 1]


def share_losses(replicas: Callable[[], int]) -> None:
    """Makes a mean of a Keras loss a replica's share of the global mean outside of `fit`, too.

    Args:
        replicas: returns how many replicas share a loss computed now; with one, losses stay as they are.
    """
    _REPLICAS[0] = replicas


def _share_in_loop(values: PyTree) -> _Share | None:
    """Finds the share of a loss computed in a user's own loop."""
    replicas = _REPLICAS[0]()
    if replicas == 1:
        return None
    mask = rows_of(values)
    return _share_of(mask.rows) if mask else _Share(None, jnp.ones(()), jnp.full((), replicas))


def _share_of(valid: jax.Array | None) -> _Share:
    rows = jnp.ones(()) if valid is None else valid.sum().astype(jnp.float32)
    return _Share(valid, rows, all_reduce(rows))


def _share_in_parts(values: PyTree) -> _Share:
    """Finds the share of a loss of one part of a batch whose parts have different numbers of rows."""
    mask = rows_of(values)
    return _share_of(mask.rows if mask else None)


# Finds the share of a loss from its arguments; while the code of fit or evaluate runs, from its batch.
_SHARE: contextvars.ContextVar[Callable[[PyTree], _Share | None]] = contextvars.ContextVar(
    "keras_share", default=_share_in_loop
)


def _share(share: _Share | None) -> contextlib.AbstractContextManager[object]:
    return assigned(_SHARE, lambda values: share)


@contextlib.contextmanager
def sharing(model: Model) -> Generator[None]:
    """Runs a training or evaluation step in a replica: losses are shares, logs cover the global batch.

    Args:
        model: the model whose step it is. A step that it calls in turn shares in the same way.
    """
    if _SHARE.get() is not _share_in_loop:
        yield
        return
    frame = current_frame()
    masks = [] if frame is None else frame.masks or []
    if len(masks) > 1:
        shares = assigned(_SHARE, _share_in_parts)
    elif frame is not None and frame.in_replica:
        shares = _share(_share_of(masks[0].rows if masks else None))
    else:
        shares = _share(None)
    with shares, _tracking_shares(model):
        yield


def unshared() -> contextlib.AbstractContextManager[object]:
    """Runs code whose losses cover the global batch."""
    return _share(None)


def _fraction_of(part: jax.Array) -> jax.Array:
    """This replica's fraction of a sum over replicas."""
    part = jnp.asarray(part, jnp.float32)
    whole = all_reduce(part)
    return part / jnp.where(whole == 0, 1.0, whole)


def loss_as_share(
    call: Method, /, self: Loss, y_true: PyTree, y_pred: PyTree, sample_weight: ArrayLike = None
) -> jax.Array:
    """Wraps `Loss.__call__`: a mean becomes the replica's share."""
    loss = call(self, y_true, y_pred, sample_weight)
    if self.reduction in (None, "none", "sum"):
        return loss
    share = _SHARE.get()([y_true, y_pred])
    if share is None:
        return loss
    kept: Any = get_keras_mask(y_pred)
    if kept is None and self.reduction == "mean_with_sample_weight" and sample_weight is not None:
        kept = jnp.asarray(sample_weight, jnp.float32)
    if kept is None:
        return share.of(loss)
    if share.valid is not None:
        kept = without_padding(kept, share.valid)
    return share.of(loss, _fraction_of(kept.sum()))


def additional_loss_as_share(aggregate: Method, /, self: Model, loss: jax.Array) -> jax.Array:
    """Wraps `Trainer._aggregate_additional_loss`: penalties are equal on all replicas, so each takes its share."""
    total = aggregate(self, loss)
    share = _SHARE.get()(None)
    return total if share is None else share.of(total)


def own_loss_as_share(
    compute: Method, /, self: Model, *args: object, **kwargs: object
) -> jax.Array:
    """Wraps `Trainer._compute_loss`: a user's `compute_loss` knows no shares, so its whole result becomes one."""
    share = _SHARE.get()(None)
    if share is None or type(self).compute_loss is _MODEL.compute_loss:
        return compute(self, *args, **kwargs)
    with _share(None):
        loss = jnp.asarray(compute(self, *args, **kwargs))
    return share.of(loss)


def losses_of_this_call(
    stateless_call: Method, /, self: Layer, *args: object, **kwargs: object
) -> PyTree:
    """Wraps `Layer.stateless_call`: layers forget which losses they added in former calls.

    Keras knows a loss by its `id`. A loss of this call may get the `id` of one freed since, and would count for two layers, or for none.
    """
    if kwargs.get("return_losses") and not in_stateless_scope():
        for layer in self._flatten_layers():
            layer._loss_ids.clear()
    return stateless_call(self, *args, **kwargs)


@contextlib.contextmanager
def _tracking_shares(model: Model) -> Generator[None]:
    """Makes the metrics that track losses report the loss of the global batch from shares."""
    trackers = [model._loss_tracker, *(model._compile_loss.metrics if model._compile_loss else [])]
    with contextlib.ExitStack() as stack:
        for tracker in filter(None, trackers):
            methods = {"update_state": functools.partial(_track, tracker)}
            stack.enter_context(with_attributes(tracker, methods))
        yield


def _track(tracker: Metric, value: jax.Array, sample_weight: ArrayLike = None) -> None:
    update = functools.partial(type(tracker).update_state, tracker)
    share = _SHARE.get()(None)
    if share is None:
        return update(value, sample_weight=sample_weight)
    # Without a mask all replicas have equally many rows, and count them.
    rows = sample_weight if share.valid is None else share.rows
    scale = share.whole / jnp.maximum(share.rows, 1)
    return update(value * scale.astype(value.dtype), sample_weight=rows)
