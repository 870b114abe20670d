"""What the model function of a `TPUEstimator` returns."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from frontends.tf.estimator.estimator_spec import EstimatorSpec
from frontends.tf.estimator.mode_keys import ModeKeys
from frontends.tf.ops.control_flow import group


class TPUEstimatorSpec(NamedTuple):
    """A `tf.estimator.EstimatorSpec` whose metrics and summaries are made by functions, which TensorFlow calls on the host.

    Attributes:
        mode: as in `tf.estimator.EstimatorSpec`.
        predictions: likewise.
        loss: likewise.
        train_op: likewise.
        eval_metrics: a function that returns metrics by name, and its arguments, a list of tensors or a dict by the
            parameters' names.
        export_outputs: as in `tf.estimator.EstimatorSpec`.
        scaffold_fn: returns a `tf.train.Scaffold`.
        host_call: a function, which may write summaries, and its arguments, as `eval_metrics`.
        training_hooks: as in `tf.estimator.EstimatorSpec`.
        evaluation_hooks: likewise.
        prediction_hooks: likewise.

    Source: `tf.estimator.tpu.TPUEstimatorSpec`.
    """

    mode: str
    predictions: Any = None
    loss: Any = None
    train_op: Any = None
    eval_metrics: Any = None
    export_outputs: Mapping[str, Any] | None = None
    scaffold_fn: Any = None
    host_call: Any = None
    training_hooks: Sequence[Any] | None = None
    evaluation_hooks: Sequence[Any] | None = None
    prediction_hooks: Sequence[Any] | None = None

    def as_estimator_spec(self) -> EstimatorSpec:
        """Calls the functions; returns what an estimator takes.

        Raises:
            ValueError: `eval_metrics` or `host_call` is no pair of a function and arguments.
        """
        train_op, metrics = self.train_op, None
        if self.eval_metrics is not None:
            metrics = _called("eval_metrics", self.eval_metrics)
        if self.host_call is not None:
            found = _called("host_call", self.host_call)
            if self.mode == ModeKeys.TRAIN:
                train_op = group(train_op, found)
        scaffold = None if self.scaffold_fn is None else self.scaffold_fn()
        return EstimatorSpec(
            self.mode,
            self.predictions,
            self.loss,
            train_op,
            metrics,
            self.export_outputs,
            training_hooks=self.training_hooks,
            scaffold=scaffold,
            evaluation_hooks=self.evaluation_hooks,
            prediction_hooks=self.prediction_hooks,
        )


def _called(name: str, given: Any) -> Any:
    if not (
        isinstance(given, (tuple, list))
        and len(given) == 2
        and callable(given[0])
        and isinstance(given[1], (tuple, list, dict))
    ):
        raise ValueError(
            f"{name} should be a pair of a function and the list or dict of its arguments, but is {given!r:.200}. Write "
            f"{name}=(function, [labels, logits])."
        )
    function, arguments = given
    return function(**arguments) if isinstance(arguments, dict) else function(*arguments)
