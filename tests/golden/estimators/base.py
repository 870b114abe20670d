"""What scenarios of estimators share: the register, numbers that both front ends start from, and what a run gives.

A *run* trains an estimator and yields a case for each kind of result, so that a difference in one hides no other.
"""

import logging
import re
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np

from tests.golden.scenarios.base import Case, Scenario, f32

SCENARIOS: dict[str, Scenario] = {}
# Parts of the names of variables that optimizers make.
_SLOTS = {
    "Momentum",
    "Adagrad",
    "Adam",
    "Adam_1",
    "Ftrl",
    "Ftrl_1",
    "RMSProp",
    "RMSProp_1",
    "RMSProp_2",
}
_SLOTS |= {
    "Adadelta",
    "Adadelta_1",
    "ProximalAdagrad",
    "beta1_power",
    "beta2_power",
    "training",
    "t_0",
}


def recorded(
    name: str, group: str, settings: tuple[str, ...] = ("none",), *, fresh: bool = False
) -> Callable[[Any], Any]:
    """Registers a scenario of estimators."""

    def register(cases: Any) -> Any:
        SCENARIOS[name] = Scenario(name, group, settings, fresh, cases)
        return cases

    return register


def folder() -> str:
    """Makes an empty folder."""
    return tempfile.mkdtemp()


def wave(shape: Any, phase: float = 0.0, size: float = 0.5) -> Any:
    """Numbers that look irregular, and are the same everywhere: what weights and data start from."""
    count = int(np.prod(shape, dtype=np.int64))
    return f32(np.sin(np.arange(count) * 0.9 + phase) * size).reshape(tuple(shape))


def waves(tf: Any, phase: float = 0.3, size: float = 0.5) -> Callable[..., Any]:
    """Makes an initializer that gives a wave of any shape."""

    def initializer(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        return tf.constant(wave([int(one) for one in shape], phase, size), dtype or tf.float32)

    return initializer


def input_fn(
    tf: Any, features: Any, labels: Any = None, batch: int = 8, *, repeat: bool = True
) -> Callable[[], Any]:
    """Makes an input_fn of arrays, in their order."""

    def made() -> Any:
        rows = tf.data.Dataset.from_tensor_slices(
            features if labels is None else (features, labels)
        )
        return rows.repeat().batch(batch) if repeat else rows.batch(batch)

    return made


class Log(logging.Handler):
    """Collects what is logged in a `with`, and keeps it off the screen."""

    def __init__(self, level: int = logging.INFO) -> None:
        super().__init__(level)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno < logging.WARNING:  # warnings are of what is deprecated
            self.lines.append(record.getMessage())

    def __enter__(self) -> "Log":
        logger = logging.getLogger("tensorflow")
        self.before = logger.handlers, logger.level, logger.propagate
        logger.handlers, logger.propagate = [self], False
        logger.setLevel(logging.INFO)
        return self

    def __exit__(self, *error: object) -> None:
        logger = logging.getLogger("tensorflow")
        logger.handlers, level, logger.propagate = self.before
        logger.setLevel(level)

    def losses(self) -> list[float]:
        """The loss of each step, as logged."""
        found = (re.match(r"loss = ([^,]+), step = \d+", line) for line in self.lines)
        return [float(one[1]) for one in found if one]


def config(tf: Any, **options: Any) -> Any:
    """A RunConfig that logs every step."""
    return tf.estimator.RunConfig(log_step_count_steps=1, **options)


def variables(estimator: Any, *, slots: bool = False) -> dict[str, Any]:
    """The values of the model's variables; or of those that optimizers made."""
    return {
        name: np.asarray(estimator.get_variable_value(name))
        for name in estimator.get_variable_names()
        if (not _SLOTS.isdisjoint(name.split("/"))) == slots
    }


def predictions(found: Iterator[Any]) -> Any:
    """The first rows of predictions, by name; all are computed."""
    rows = list(found)[:8]
    if isinstance(rows[0], dict):
        return {key: np.stack([row[key] for row in rows]) for key in rows[0]}
    return np.stack(rows)


def run(
    make: Callable[[], Any],
    train: Callable[[], Any],
    evaluate: Callable[[], Any] | None = None,
    predict: Callable[[], Any] | None = None,
    steps: int = 6,
    prefix: str = "",
    more: Callable[[Any], Any] | None = None,
) -> Iterator[Case]:
    """Trains an estimator, and yields what it gives, a case for each kind.

    Args:
        make: makes the estimator.
        train: its input_fn.
        evaluate: input_fn of an evaluation over two batches, if there is one.
        predict: input_fn of predictions, if there are some.
        steps: of training.
        prefix: of the cases' names.
        more: gives something else, of the trained estimator.
    """

    @cache
    def trained() -> tuple[Any, Log]:
        with Log() as log:
            estimator = make()
            estimator.train(train, steps=steps)
        return estimator, log

    @cache
    def evaluated() -> dict[str, Any]:
        with Log():
            return trained()[0].evaluate(evaluate, steps=2)

    def predicted() -> Any:
        with Log():
            return predictions(trained()[0].predict(predict))

    yield f"{prefix}losses", lambda: trained()[1].losses()
    yield f"{prefix}names", lambda: sorted(trained()[0].get_variable_names())
    yield f"{prefix}variables", lambda: variables(trained()[0])
    yield f"{prefix}slots", lambda: variables(trained()[0], slots=True)
    if evaluate is not None:
        yield f"{prefix}evaluate", evaluated
    if predict is not None:
        yield f"{prefix}predict", predicted
    if more is not None:
        yield f"{prefix}more", lambda: more(trained()[0])


def start_from(tf: Any, weights: dict[str, Any]) -> Any:
    """Makes settings of a warm start from weights by name, by a checkpoint that an estimator writes."""
    v1 = tf.compat.v1

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        for name, value in weights.items():
            v1.get_variable(
                name, value.shape, tf.float32, initializer=tf.compat.v1.constant_initializer(value)
            )
        train_op = v1.assign_add(v1.train.get_global_step(), 1)
        return tf.estimator.EstimatorSpec(
            mode, loss=tf.reduce_sum(features) * 0.0, train_op=train_op
        )

    with Log():
        writer = tf.estimator.Estimator(model_fn, folder())
        writer.train(input_fn(tf, wave([8, 1]), wave([8, 1])), steps=1)
    return tf.estimator.WarmStartSettings(ckpt_to_initialize_from=writer.model_dir)
