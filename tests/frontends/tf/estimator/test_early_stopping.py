"""Training that evaluations stop."""

import logging
from types import SimpleNamespace

import pytest

from frontends import tf
from frontends.tf.estimator.early_stopping import read_eval_metrics
from frontends.tf.estimator.events import event_writer, write_values
from frontends.tf.estimator.hooks import SessionRunArgs, SessionRunContext, SessionRunValues
from tests.frontends.tf.estimator.models import data, linear

experimental = tf.estimator.experimental
BY_STEP = {"run_every_secs": None, "run_every_steps": 1}


@pytest.fixture
def estimator(tmp_path):
    return tf.estimator.Estimator(linear, tmp_path, params={"rate": 0.1})


@pytest.fixture
def evaluated(estimator):
    """Writes evaluations: values of `mae` by step."""

    def evaluated(values):
        writer = event_writer(estimator.eval_dir())
        for step, value in values.items():
            write_values(writer, {"mae": value, "loss": -value}, step)
        writer.flush()

    return evaluated


def stops(hook, agrees=lambda wants: wants):
    """Tells whether a hook stops after a step."""
    session = SimpleNamespace(global_step=7, agrees=agrees)
    context = SessionRunContext(SessionRunArgs(None), session)
    hook.begin()
    hook.after_run(context, SessionRunValues(None))
    return context.stop_requested


def test_metrics_are_read_in_the_order_of_steps(estimator, evaluated):
    assert read_eval_metrics(estimator.eval_dir()) == {}
    evaluated({20: 1.0, 10: 2.0})
    assert read_eval_metrics(estimator.eval_dir()) == {
        10: {"mae": 2.0, "loss": -2.0},
        20: {"mae": 1.0, "loss": -1.0},
    }
    assert list(read_eval_metrics(estimator.eval_dir())) == [10, 20]


@pytest.mark.parametrize(
    ("make", "options", "expected"),
    [
        (experimental.stop_if_higher_hook, {"threshold": 2.5}, True),
        (experimental.stop_if_higher_hook, {"threshold": 3.0}, False),
        (experimental.stop_if_higher_hook, {"threshold": 2.5, "min_steps": 11}, False),
        (experimental.stop_if_lower_hook, {"threshold": 1.5}, True),
        (experimental.stop_if_lower_hook, {"threshold": 1.0}, False),
        (experimental.stop_if_no_decrease_hook, {"max_steps_without_decrease": 20}, True),
        (experimental.stop_if_no_decrease_hook, {"max_steps_without_decrease": 21}, False),
        (experimental.stop_if_no_increase_hook, {"max_steps_without_increase": 30}, True),
        (experimental.stop_if_no_increase_hook, {"max_steps_without_increase": 31}, False),
    ],
)
def test_what_evaluations_have_found_decides(estimator, evaluated, make, options, expected):
    hook = make(estimator, "mae", **options, **BY_STEP)
    assert not stops(hook)  # there is no evaluation yet
    evaluated({10: 3.0, 20: 1.0, 40: 2.0})
    hook = make(estimator, "mae", **options, **BY_STEP)
    assert stops(hook) == expected


def test_another_folder_may_be_named(estimator, tmp_path):
    writer = event_writer(tmp_path / "other")
    write_values(writer, {"mae": 1.0}, 3)
    writer.flush()
    hook = experimental.stop_if_lower_hook(
        estimator, "mae", 2, eval_dir=tmp_path / "other", **BY_STEP
    )
    assert stops(hook)


def test_a_missing_metric_is_an_error(estimator, evaluated):
    evaluated({10: 3.0})
    hook = experimental.stop_if_lower_hook(estimator, "auc", 2, **BY_STEP)
    with pytest.raises(KeyError, match="has no metric 'auc', but loss, mae"):
        stops(hook)


def test_a_function_is_asked_every_so_many_steps(estimator):
    asked = []
    hook = experimental.make_early_stopping_hook(
        estimator,
        lambda: asked.append(1) or len(asked) == 3,
        run_every_secs=None,
        run_every_steps=4,
    )
    estimator.train(data(100), hooks=[hook], max_steps=30)
    assert len(asked) == 3
    assert estimator.latest_step() == 9  # asked after 1, 5 and 9


def test_processes_that_train_together_stop_together(estimator):
    hook = experimental.make_early_stopping_hook(estimator, lambda: True, **BY_STEP)
    assert not stops(hook, agrees=lambda wants: False)
    hook = experimental.make_early_stopping_hook(estimator, lambda: False, **BY_STEP)
    assert stops(hook, agrees=lambda wants: True)


def test_train_and_evaluate_stops(tmp_path, caplog):
    caplog.set_level(logging.INFO, "tensorflow")
    config = tf.estimator.RunConfig(save_checkpoints_steps=4)
    estimator = tf.estimator.Estimator(linear, tmp_path, config, {"rate": 0.1})
    hook = experimental.stop_if_lower_hook(estimator, "loss", 1e9, **BY_STEP)
    metrics, _ = tf.estimator.train_and_evaluate(
        estimator,
        tf.estimator.TrainSpec(data(100), max_steps=30, hooks=[hook]),
        tf.estimator.EvalSpec(data(), throttle_secs=0),
    )
    # The evaluation of the checkpoint comes before the hook is called for that step.
    assert metrics["global_step"] == 4
    assert "Requesting early stopping at global step 4" in caplog.text


def test_arguments_are_checked(estimator):
    with pytest.raises(TypeError, match=r"must have type `tf\.estimator\.Estimator`"):
        experimental.make_early_stopping_hook(1, bool)
    with pytest.raises(ValueError, match="Only one of `run_every_secs` and `run_every_steps`"):
        experimental.make_early_stopping_hook(estimator, bool, run_every_steps=1)
    with pytest.raises(TypeError, match="must be callable"):
        experimental.make_early_stopping_hook(estimator, 1)
