"""A small estimator, for what estimators do whatever they train; and log lines without what differs between runs."""

import re
from collections.abc import Callable
from typing import Any

from tests.golden.estimators.base import Log, folder, input_fn, wave, waves

GROUP = "behaviour"


def model(tf: Any, **spec: Any) -> Callable[..., Any]:
    """A linear regression; `spec` makes fields of its EstimatorSpec, or None of them, of what it has."""
    v1 = tf.compat.v1

    def model_fn(features: Any, labels: Any, mode: str, params: Any) -> Any:
        y = v1.layers.dense(features["x"], 1, kernel_initializer=waves(tf))
        fields: dict[str, Any] = {"predictions": {"y": y}}
        if mode != tf.estimator.ModeKeys.PREDICT:
            fields["loss"] = v1.losses.mean_squared_error(labels, y)
            fields["eval_metric_ops"] = {"mae": v1.metrics.mean_absolute_error(labels, y)}
        if mode == tf.estimator.ModeKeys.TRAIN:
            optimizer = v1.train.GradientDescentOptimizer(0.1)
            fields["train_op"] = optimizer.minimize(fields["loss"], v1.train.get_global_step())
        fields |= {name: make(fields) for name, make in spec.items()}
        return tf.estimator.EstimatorSpec(**({"mode": mode} | fields))

    return model_fn


def rows(tf: Any, *, repeat: bool = True, count: int = 32) -> Callable[[], Any]:
    x = wave([count, 2], 0.2, 1.0)
    return input_fn(tf, {"x": x}, x[:, :1] + 0.5, repeat=repeat)


def inputs(tf: Any) -> Callable[[], Any]:
    return input_fn(tf, {"x": wave([16, 2], 0.2, 1.0)}, repeat=False)


def estimator_of(
    tf: Any, model_fn: Any = None, model_dir: str | None = None, **options: Any
) -> Any:
    options = {"params": {}} | options
    return tf.estimator.Estimator(model_fn or model(tf), model_dir or folder(), **options)


def form(line: str, *folders: str) -> str:
    """A line without what differs between runs: folders, dates, and numbers with a point."""
    for one in folders:
        line = line.replace(one, "DIR")
    line = re.sub(r"\d{4}-\d\d-\d\d[-T]\d\d:\d\d:\d\d", "DATE", line)
    line = re.sub(r"(?<=global_step/sec: )\S+", "#", line)  # it may be whole: 1045
    line = re.sub(r"\d+\.\d+(e[+-]?\d+)?", "#", line)
    return re.sub(r"\b\d{10}\b", "TIME", line)


def forms(log: Log, *folders: str) -> list[str]:
    """The forms of lines, but for those that tell of sessions and graphs."""
    left_out = ("Using config", "Graph was finalized.", "Running local", "Done running local")
    return [form(line, *folders) for line in log.lines if not line.startswith(left_out)]
