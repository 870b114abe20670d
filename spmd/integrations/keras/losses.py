"""Losses of Keras in replicas: a mean is this replica's share of the mean over the whole batch.

Shares add up to what one device computes, and so do their gradients, whatever rows a replica has. Touches
internals of Keras, as keras_trainer.py does: `Model._loss_tracker`, `._compile_loss`, `get_keras_mask`.
"""

import contextlib
import contextvars
import dataclasses
import functools
from collections.abc import Callable, Generator
from typing import Any

import jax.numpy as jnp
import keras
from keras.src.backend.common.masking import get_keras_mask

from spmd.integrations.keras.adapter import rows_of, with_methods
from spmd.replica import all_reduce, current_frame

_MODEL: Any = keras.Model


@dataclasses.dataclass(frozen=True)
class _Share:
    """How much of a batch is this replica's.

    Attributes:
        valid: which rows of its block are data, or None if the batch has no mask.
        rows: how many that are.
        whole: how many rows all replicas have.
    """

    valid: Any
    rows: Any
    whole: Any

    def of(self, loss: Any, fraction: Any = None) -> Any:
        """Makes a replica's own mean its part of the mean over the whole batch.

        Args:
            loss: the mean over the replica's rows.
            fraction: the part, if it is not that of the rows.
        """
        fraction = self.rows / self.whole if fraction is None else fraction
        # Without rows the mean may be anything, also no number.
        return jnp.where(fraction > 0, loss * fraction.astype(loss.dtype), 0)


_REPLICAS: list[Callable[[], int]] = [lambda: 1]


def share_losses(replicas: Callable[[], int]) -> None:
    """Makes a mean of a Keras loss a replica's share of the whole batch's mean outside of fit, too.

    Args:
        replicas: tells how many replicas share a loss that is computed now; for one it stays as it is.
    """
    _REPLICAS[0] = replicas


def _share_in_loop(values: Any) -> _Share | None:
    """Finds the share of a loss that the code of a person's own loop computes."""
    replicas = _REPLICAS[0]()
    if replicas == 1:
        return None
    mask = rows_of(values)
    if mask is None:
        return _Share(None, jnp.ones(()), jnp.full((), replicas))
    return _share_of(mask.rows)


def _share_of(valid: Any) -> _Share:
    rows = jnp.ones(()) if valid is None else valid.sum().astype(jnp.float32)
    return _Share(valid, rows, all_reduce(rows))


# Finds the share of a loss by its arguments; another way while the code of fit or evaluate runs.
_SHARE: contextvars.ContextVar[Callable[[Any], _Share | None]] = contextvars.ContextVar(
    "keras_share", default=_share_in_loop
)


@contextlib.contextmanager
def _share(share: _Share | None) -> Generator[None]:
    token = _SHARE.set(lambda values: share)
    try:
        yield
    finally:
        _SHARE.reset(token)


@contextlib.contextmanager
def sharing(model: Any) -> Generator[None]:
    """Runs a training or evaluation step in a replica: losses are shares, the logs are of the whole batch.

    Args:
        model: whose step it is. A step that it calls in turn shares in the same way.
    """
    if _SHARE.get() is not _share_in_loop:
        yield
        return
    frame, share = current_frame(), None
    if frame is not None and frame.in_replica:
        share = _share_of(frame.masks[0].rows if frame.masks else None)
    with _share(share), _tracking_shares(model):
        yield


def unshared() -> contextlib.AbstractContextManager[None]:
    """Runs code whose losses are of the whole batch."""
    return _share(None)


def _fraction_of(part: Any) -> Any:
    """This replica's part of a sum over replicas."""
    part = jnp.asarray(part, jnp.float32)
    whole = all_reduce(part)
    return part / jnp.where(whole == 0, 1.0, whole)


def loss_as_share(call: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps `Loss.__call__`."""

    @functools.wraps(call)
    def of_share(self: Any, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        loss = call(self, y_true, y_pred, sample_weight)
        if self.reduction in (None, "none", "sum"):
            return loss
        share = _SHARE.get()([y_true, y_pred])
        if share is None:
            return loss
        kept = get_keras_mask(y_pred)
        if kept is not None:
            if share.valid is not None:
                kept = kept & share.valid.reshape(-1, *[1] * (kept.ndim - 1))
            fraction = _fraction_of(kept.sum())
        elif self.reduction == "mean_with_sample_weight" and sample_weight is not None:
            weight = jnp.asarray(sample_weight, jnp.float32)
            if share.valid is not None:
                weight = weight * share.valid.reshape(-1, *[1] * (weight.ndim - 1))
            fraction = _fraction_of(weight.sum())
        else:
            fraction = None
        return share.of(loss, fraction)

    return of_share


def additional_loss_as_share(aggregate: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps `Trainer._aggregate_additional_loss`."""

    # A penalty on weights is the same on every replica, and shares add up to one.
    @functools.wraps(aggregate)
    def of_share(self: Any, loss: Any) -> Any:
        total = aggregate(self, loss)
        share = _SHARE.get()(None)
        return total if share is None else share.of(total)

    return of_share


def own_loss_as_share(compute: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps `Trainer._compute_loss`."""

    # A compute_loss that a person wrote knows of no shares: as a mean over rows it is one as a whole.
    @functools.wraps(compute)
    def of_share(self: Any, *args: Any, **kwargs: Any) -> Any:
        share = _SHARE.get()(None)
        if share is None or type(self).compute_loss is _MODEL.compute_loss:
            return compute(self, *args, **kwargs)
        with _share(None):
            loss = jnp.asarray(compute(self, *args, **kwargs))
        return share.of(loss)

    return of_share


@contextlib.contextmanager
def _tracking_shares(model: Any) -> Generator[None]:
    """Makes the metrics that follow losses take shares: they mean the loss of the whole batch."""
    trackers = [model._loss_tracker, *(model._compile_loss.metrics if model._compile_loss else [])]
    with contextlib.ExitStack() as stack:
        for tracker in filter(None, trackers):
            methods = {"update_state": functools.partial(_track, tracker)}
            stack.enter_context(with_methods(tracker, methods))
        yield


def _track(tracker: Any, value: Any, sample_weight: Any = None) -> Any:
    update = functools.partial(type(tracker).update_state, tracker)
    share = _SHARE.get()(None)
    if share is None:
        return update(value, sample_weight=sample_weight)
    # Without a mask every replica has as many rows as the others, and counts them.
    rows = sample_weight if share.valid is None else share.rows
    scale = share.whole / jnp.maximum(share.rows, 1)
    return update(value * scale.astype(value.dtype), sample_weight=rows)
