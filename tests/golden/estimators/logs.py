"""What is logged, and what is written to a model's folder."""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.golden.estimators.base import Log, folder, recorded
from tests.golden.estimators.small import GROUP, estimator_of, form, forms, inputs, model, rows
from tests.golden.scenarios.base import Case, Setting


@recorded("estimator.log", GROUP)
def log(s: Setting) -> Iterator[Case]:
    tf = s.tf

    def lines(act: Callable[[Any], Any], before: int = 0, **options: Any) -> list[str]:
        model_dir = folder()
        estimator = estimator_of(tf, model_dir=model_dir, config=tf.estimator.RunConfig(**options))
        if before:
            with Log():
                estimator.train(rows(tf), steps=before)
        with Log() as found:
            act(estimator)
        return forms(found, model_dir)

    yield "train", lambda: lines(lambda e: e.train(rows(tf), steps=3), log_step_count_steps=1)
    yield "train_long", lambda: lines(lambda e: e.train(rows(tf), steps=250))
    yield (
        "train_saves",
        lambda: lines(lambda e: e.train(rows(tf), steps=5), save_checkpoints_steps=2),
    )
    yield "train_again", lambda: lines(lambda e: e.train(rows(tf), steps=2), 2)
    yield "train_done", lambda: lines(lambda e: e.train(rows(tf), max_steps=2), 2)
    yield "evaluate", lambda: lines(lambda e: e.evaluate(rows(tf, repeat=False), steps=3), 2)
    yield (
        "evaluate_all",
        lambda: lines(lambda e: e.evaluate(rows(tf, repeat=False), name="test"), 2),
    )
    yield "evaluate_many_steps", lambda: lines(lambda e: e.evaluate(rows(tf), steps=25), 2)
    yield "evaluate_untrained", lambda: lines(lambda e: e.evaluate(rows(tf), steps=1))
    yield "predict", lambda: lines(lambda e: list(e.predict(inputs(tf))), 2)
    yield "predict_untrained", lambda: lines(lambda e: list(e.predict(inputs(tf))))

    def warm() -> list[str]:
        first = estimator_of(tf)
        with Log():
            first.train(rows(tf), steps=1)
        model_dir = folder()
        with Log() as found:
            second = estimator_of(tf, model_dir=model_dir, warm_start_from=first.model_dir)
            second.train(rows(tf), steps=1)
        return forms(found, model_dir, first.model_dir)

    yield "warm_start", warm

    def hook_lines(**options: Any) -> list[str]:
        def hooks(fields: Any) -> list[Any]:
            made = tf.compat.v1.train.LoggingTensorHook(
                {"b": 1.0 * fields["loss"], "a": fields["loss"]}, **options
            )
            return [made]

        model_dir = folder()
        with Log() as found:
            estimator = estimator_of(tf, model(tf, training_hooks=hooks), model_dir)
            estimator.train(rows(tf), steps=4)
        return [form(one, model_dir) for one in found.lines if one.startswith("a = ")]

    yield "logging_hook", lambda: hook_lines(every_n_iter=2)
    yield "logging_hook_at_end", lambda: hook_lines(at_end=True)
    yield "logging_hook_at_end_too", lambda: hook_lines(every_n_iter=2, at_end=True)
    yield (
        "logging_hook_formatter",
        lambda: hook_lines(every_n_iter=2, formatter=lambda values: f"a = of {sorted(values)}"),
    )

    def in_memory() -> list[str]:
        model_dir = folder()
        with Log() as found:
            estimator = estimator_of(tf, model_dir=model_dir)
            hook = tf.estimator.experimental.InMemoryEvaluatorHook(
                estimator, rows(tf), steps=1, every_n_iter=1
            )
            estimator.train(rows(tf), [hook], steps=2)
        return [one for one in found.lines if one == "Calling model_fn."]

    yield "in_memory", in_memory

    def evaluated() -> list[str]:
        metrics = tf.compat.v1.metrics

        def several(fields: Any) -> Any:
            return {name: metrics.mean(fields["loss"]) for name in ("z", "a")}

        with Log():
            estimator = estimator_of(tf, model(tf, eval_metric_ops=several))
            return list(estimator.evaluate(rows(tf), steps=1))

    yield "evaluated_names", evaluated


@recorded("estimator.files", GROUP)
def files(s: Setting) -> Iterator[Case]:
    tf = s.tf

    def names(act: Callable[[Any], Any], **options: Any) -> list[str]:
        model_dir = folder()
        with Log():
            act(estimator_of(tf, model_dir=model_dir, config=tf.estimator.RunConfig(**options)))
        found = {str(path.relative_to(model_dir)) for path in Path(model_dir).rglob("*")}
        return sorted({re.sub(r"tfevents\..*", "tfevents", name) for name in found})

    def train_and_evaluate(estimator: Any) -> None:
        estimator.train(rows(tf), steps=2)
        estimator.evaluate(rows(tf), steps=1)
        estimator.evaluate(rows(tf), steps=1, name="test")

    yield "train", lambda: names(lambda e: e.train(rows(tf), steps=3))
    yield (
        "keep_two",
        lambda: names(
            lambda e: e.train(rows(tf), steps=7), save_checkpoints_steps=2, keep_checkpoint_max=2
        ),
    )
    yield (
        "no_saving",
        lambda: names(
            lambda e: e.train(rows(tf), steps=2),
            save_checkpoints_steps=None,
            save_checkpoints_secs=None,
        ),
    )
    yield "evaluate", lambda: names(train_and_evaluate)

    def latest() -> list[Any]:
        estimator = estimator_of(tf)
        found = [estimator.latest_checkpoint()]
        with Log():
            estimator.train(rows(tf), steps=3)
        found.append(os.path.relpath(estimator.latest_checkpoint(), estimator.model_dir))
        return found

    yield "latest_checkpoint", latest
