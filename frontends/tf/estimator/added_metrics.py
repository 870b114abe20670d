"""`tf.estimator.add_metrics`: more metrics for an estimator that exists."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from frontends.tf.estimator.estimator import Estimator
from frontends.tf.estimator.estimator_spec import EstimatorSpec
from frontends.tf.estimator.mode_keys import ModeKeys

_KNOWN = ("features", "labels", "predictions", "config")


def add_metrics(estimator: Estimator, metric_fn: Callable[..., Mapping[str, Any]]) -> Estimator:
    """Makes an estimator that evaluates more metrics, in the same folder.

    Args:
        estimator: any.
        metric_fn: takes what it has parameters for of `features`, `labels`, `predictions` and `config`; returns metrics by name, as
            `eval_metric_ops` has them. They replace those of the estimator that have the same name.

    Raises:
        ValueError: the function takes something else.

    Source: `tf.estimator.add_metrics`.
    """
    names = list(inspect.signature(metric_fn).parameters)
    strange = [name for name in names if name not in _KNOWN and name != "self"]
    if strange:
        raise ValueError(
            f"metric_fn ({metric_fn}) has following not expected args: {strange}. Expected are {', '.join(_KNOWN)}."
        )

    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
        spec = estimator.model_fn(features, labels, mode, config)
        if mode != ModeKeys.EVAL:
            return spec
        given = {
            "features": features,
            "labels": labels,
            "predictions": spec.predictions,
            "config": config,
        }
        found = metric_fn(**{name: given[name] for name in names if name in given})
        return spec._replace(eval_metric_ops={**spec.eval_metric_ops, **found})

    return Estimator(
        model_fn,
        estimator.model_dir,
        estimator.config,
        warm_start_from=estimator.warm_start_from,
    )
