"""How many steps training, evaluation and prediction take, and from which checkpoint."""

import os
from collections.abc import Iterator
from typing import Any

from tests.golden.estimators.base import Log, recorded
from tests.golden.estimators.small import GROUP, estimator_of, inputs, rows
from tests.golden.scenarios.base import Case, Setting


@recorded("estimator.steps", GROUP)
def steps(s: Setting) -> Iterator[Case]:
    tf = s.tf

    def after(*calls: dict[str, Any], finite: bool = False) -> list[Any]:
        found: list[Any] = []
        estimator = estimator_of(tf)
        for options in calls:
            with Log():
                returned = estimator.train(rows(tf, repeat=not finite), **options)
            found.append([int(estimator.get_variable_value("global_step")), returned is estimator])
        return found

    yield "steps_add", lambda: after({"steps": 3}, {"steps": 3})
    yield "max_steps_do_not", lambda: after({"max_steps": 3}, {"max_steps": 3}, {"max_steps": 5})
    yield "mixed", lambda: after({"steps": 3}, {"max_steps": 2}, {"steps": 1})
    yield "input_ends", lambda: after({"steps": 10}, {"max_steps": 6}, finite=True)
    yield "no_steps", lambda: after({}, {}, finite=True)
    yield "zero_steps", lambda: after({"steps": 0})
    yield "zero_max_steps", lambda: after({"max_steps": 0})
    yield "both", lambda: after({"steps": 1, "max_steps": 1})

    def trained() -> Any:
        estimator = estimator_of(tf)
        with Log():
            estimator.train(rows(tf), steps=2)
        return estimator

    def evaluated(count: int | None, repeat: bool) -> Any:
        with Log():
            return trained().evaluate(rows(tf, repeat=repeat), steps=count)

    yield "evaluate_all", lambda: evaluated(None, False)
    yield "evaluate_more_than_there_is", lambda: evaluated(9, False)
    yield "evaluate_one", lambda: evaluated(1, True)
    yield "evaluate_zero", lambda: evaluated(0, True)

    def untrained() -> Any:
        with Log():
            return estimator_of(tf).evaluate(rows(tf), steps=1)

    yield "evaluate_untrained", untrained

    def at_checkpoint() -> Any:
        run_config = tf.estimator.RunConfig(save_checkpoints_steps=1)
        estimator = estimator_of(tf, config=run_config)
        with Log():
            estimator.train(rows(tf), steps=3)
            path = os.path.join(estimator.model_dir, "model.ckpt-1")
            return estimator.evaluate(rows(tf), steps=1, checkpoint_path=path)

    yield "evaluate_a_checkpoint", at_checkpoint

    def predicted(**options: Any) -> Any:
        with Log():
            return list(trained().predict(inputs(tf), **options))[:2]

    yield "predict", predicted
    yield "predict_keys", lambda: predicted(predict_keys=["y"])
    yield "predict_other_keys", lambda: predicted(predict_keys=["z"])
    yield "predict_batches", lambda: predicted(yield_single_examples=False)

    def resumed() -> Any:
        first = trained()
        second = estimator_of(tf, model_dir=first.model_dir)
        with Log():
            second.train(rows(tf), steps=2)
        return [
            int(second.get_variable_value("global_step")),
            second.get_variable_value("dense/kernel"),
        ]

    yield "another_goes_on", resumed
    yield "missing_variable", lambda: trained().get_variable_value("nothing")
    yield "names_untrained", lambda: estimator_of(tf).get_variable_names()
    yield "value_untrained", lambda: estimator_of(tf).get_variable_value("dense/kernel")
