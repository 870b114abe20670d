"""What a model function returns."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax

from frontends.tf.estimator.hooks import SessionRunHook
from frontends.tf.estimator.keras_metrics import is_keras_metric, pair_of
from frontends.tf.estimator.mode_keys import ModeKeys
from frontends.tf.graph import Operation


class _Fields(NamedTuple):
    mode: str
    predictions: Any
    loss: Any
    train_op: Any
    eval_metric_ops: Mapping[str, Any]
    export_outputs: Mapping[str, Any] | None
    training_chief_hooks: Sequence[Any]
    training_hooks: Sequence[Any]
    scaffold: Any
    evaluation_hooks: Sequence[Any]
    prediction_hooks: Sequence[Any]


# By mode, what an `EstimatorSpec` must have.
_NEEDED = {
    ModeKeys.TRAIN: "loss=loss, train_op=train_op",
    ModeKeys.EVAL: "loss=loss",
    ModeKeys.PREDICT: "predictions=predictions",
}


def missing(name: str, mode: str) -> str:
    """Says in an error what a spec lacks, and what its mode needs."""
    return (
        f"Missing {name}. For mode {mode!r} the model function must return tf.estimator.EstimatorSpec(mode, {_NEEDED[mode]}), "
        f"but {name} is None."
    )


class EstimatorSpec(_Fields):
    """What a model function has made: predictions, a loss, and what to run.

    Source: `tf.estimator.EstimatorSpec`.
    """

    __slots__ = ()

    def __new__(
        cls,
        mode: str,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metric_ops: Mapping[str, Any] | None = None,
        export_outputs: Mapping[str, Any] | None = None,
        training_chief_hooks: Sequence[Any] | None = None,
        training_hooks: Sequence[Any] | None = None,
        scaffold: Any = None,
        evaluation_hooks: Sequence[Any] | None = None,
        prediction_hooks: Sequence[Any] | None = None,
    ) -> "EstimatorSpec":
        """Checks what the mode needs.

        Args:
            mode: one of `tf.estimator.ModeKeys`.
            predictions: tensor, or dict of tensors, with a row for each row of the features; needed to predict.
            loss: a number; needed to train and to evaluate.
            train_op: what `optimizer.minimize` returns, or a group of such operations; needed to train.
            eval_metric_ops: pairs of a value and an update operation, as functions of `tf.metrics` return them, or metrics of Keras
                that were updated, by name.
            export_outputs: what `export_saved_model` writes, by name.
            training_chief_hooks: hooks of the chief alone.
            training_hooks: hooks of all workers.
            scaffold: without effect; see `tf.train.Scaffold`.
            evaluation_hooks: hooks of an evaluation.
            prediction_hooks: hooks of predictions.

        Raises:
            ValueError: something is missing, or the loss is no number.
            TypeError: a part is of another kind than said above.
        """
        if mode not in (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT):
            raise ValueError(
                f"mode must be one of tf.estimator.ModeKeys.TRAIN, EVAL and PREDICT, but got {mode!r}."
            )
        if loss is None and mode != ModeKeys.PREDICT:
            raise ValueError(missing("loss", mode))
        if train_op is None and mode == ModeKeys.TRAIN:
            raise ValueError(missing("train_op", mode))
        if predictions is None and mode == ModeKeys.PREDICT:
            raise ValueError(missing("predictions", mode))
        if (
            train_op is not None
            and not _is_tensor(train_op)
            and not isinstance(train_op, Operation)
        ):
            raise TypeError(f"train_op must be Operation or Tensor, given: {train_op!r}")
        named = predictions if isinstance(predictions, Mapping) else {"": predictions}
        for name, tensor in named.items():
            if tensor is not None and not _is_tensor(tensor):
                where = f"predictions[{name}]" if name else "predictions"
                raise TypeError(f"{where} must be Tensor, given: {tensor!r}")
        for name, given in (
            ("eval_metric_ops", eval_metric_ops),
            ("export_outputs", export_outputs),
        ):
            if given is not None and not isinstance(given, Mapping):
                raise TypeError(f"{name} must be a dict, given: {given!r}")
        for hooks in (training_chief_hooks, training_hooks, evaluation_hooks, prediction_hooks):
            check_hooks(hooks or ())
        metrics = {
            name: pair_of(one) if is_keras_metric(one) else one
            for name, one in (eval_metric_ops or {}).items()
        }
        for name, pair in metrics.items():
            if not (
                isinstance(pair, tuple)
                and len(pair) == 2
                and all(_is_tensor(one) or isinstance(one, Operation) for one in pair)
            ):
                raise TypeError(
                    "Values of eval_metric_ops must be (metric_value, update_op) tuples, or a Keras metric, given: "
                    f"{pair!r} for key: {name}"
                )
        return super().__new__(
            cls,
            mode,
            {} if predictions is None else predictions,
            None if loss is None else _number(loss),
            train_op,
            metrics,
            export_outputs,
            tuple(training_chief_hooks or ()),
            tuple(training_hooks or ()),
            scaffold,
            tuple(evaluation_hooks or ()),
            tuple(prediction_hooks or ()),
        )


def check_hooks(hooks: Sequence[Any]) -> None:
    """Checks what is called around steps.

    Raises:
        TypeError: one is no `SessionRunHook`.
    """
    for hook in hooks:
        if not isinstance(hook, SessionRunHook):
            raise TypeError(f"All hooks must be SessionRunHook instances, given: {hook!r}")


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "dtype") and hasattr(value, "shape")


def _number(loss: Any) -> Any:
    """Makes a loss of one element a number."""
    if isinstance(loss, Operation) or not hasattr(loss, "shape"):
        raise TypeError(f"loss must be Tensor, given: {loss!r}")
    if loss.shape == ():
        return loss
    if loss.shape == (1,):
        return jax.numpy.reshape(loss, ())
    raise ValueError(f"Loss must be scalar, given: {loss.shape}")
