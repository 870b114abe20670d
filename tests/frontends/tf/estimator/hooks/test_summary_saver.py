"""Summaries that hooks write: which, and at which steps."""

import os

import pytest

from frontends import tf
from frontends.tf.compat.v1.summary import FileWriterCache
from tests.frontends.tf.estimator.models import data, linear

v1 = tf.compat.v1


def written(folder):
    """Tags by step of the events of a folder."""
    FileWriterCache.clear()
    (name,) = [one for one in os.listdir(folder) if "tfevents" in one]
    found = {}
    for event in v1.train.summary_iterator(os.path.join(folder, name)):
        if event.HasField("summary"):
            found.setdefault(event.step, []).extend(value.tag for value in event.summary.value)
    return found


def model(**hooks):
    """A model function with two summaries, and hooks of them."""

    def model_fn(features, labels, mode, params):
        mean = tf.summary.scalar("average", tf.reduce_mean(features))
        apart = tf.summary.histogram("apart", values=features, collections=["mine"])
        found = {name: [make(mean, apart)] for name, make in hooks.items()}
        return linear(features, labels, mode, params)._replace(**found)

    return model_fn


def estimator(folder, model_fn, **config):
    config = tf.estimator.RunConfig(log_step_count_steps=None, **config)
    return tf.estimator.Estimator(model_fn, folder, config, {"rate": 0.1})


def test_summaries_are_written_after_the_first_step_and_so_many_more(tmp_path):
    made = estimator(tmp_path, model(), save_summary_steps=3)
    made.train(data(10), steps=8)
    assert written(tmp_path) == {step: ["average", "loss"] for step in (1, 4, 7)}


def test_training_that_goes_on_writes_at_once(tmp_path):
    made = estimator(tmp_path, model(), save_summary_steps=3)
    made.train(data(10), steps=2)
    made.train(data(10), steps=2)
    assert list(written(tmp_path)) == [1, 3]


def test_no_interval_writes_nothing(tmp_path):
    estimator(tmp_path, model(), save_summary_steps=None).train(data(10), steps=2)
    assert not [name for name in os.listdir(tmp_path) if "tfevents" in name]


def test_an_evaluation_computes_the_summaries_that_a_hook_writes(tmp_path):
    folder = tmp_path / "written"
    hooks = {
        "evaluation_hooks": lambda mean, apart: tf.estimator.SummarySaverHook(
            1, output_dir=str(folder), summary_op=mean
        )
    }
    made = estimator(tmp_path, model(**hooks))
    made.evaluate(data())
    assert written(folder) == {0: ["average", "average"]}
    assert "average" not in written(tmp_path / "eval")[0]


def test_a_summary_that_is_called_loss_is_the_loss(tmp_path):
    def model_fn(features, labels, mode, params):
        tf.summary.scalar("loss", tf.reduce_mean(features))
        return linear(features, labels, mode, params)

    estimator(tmp_path, model_fn, save_summary_steps=3).train(data(10), steps=1)
    assert written(tmp_path) == {1: ["loss"]}


def test_a_hook_writes_the_summaries_that_it_is_given(tmp_path):
    def hook(mean, apart):
        return tf.estimator.SummarySaverHook(
            save_steps=2, output_dir=tmp_path / "own", summary_op=v1.summary.merge([apart])
        )

    made = estimator(tmp_path, model(training_hooks=hook), save_summary_steps=None)
    made.train(data(10), steps=4)
    assert written(tmp_path / "own") == {step: ["apart"] for step in (1, 3)}


def test_an_evaluation_writes_at_its_step(tmp_path):
    writer = v1.summary.FileWriter(tmp_path / "own")

    def hook(mean, apart):
        return v1.train.SummarySaverHook(1, summary_writer=writer, scaffold=object())

    made = estimator(tmp_path, model(evaluation_hooks=hook), save_summary_steps=None)
    made.train(data(10), steps=3)
    made.evaluate(data(), steps=2)
    assert written(tmp_path / "own") == {3: ["average", "average"]}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"save_steps": 1}, "Exactly one of scaffold or summary_op"),
        ({"save_steps": 1, "scaffold": 1, "summary_op": 1}, "Exactly one of scaffold"),
        ({"scaffold": 1}, "every_secs or every_steps"),
    ],
)
def test_options_are_checked(options, words):
    with pytest.raises(ValueError, match=words):
        tf.estimator.SummarySaverHook(**options)


def test_a_summary_is_needed(tmp_path):
    made = estimator(
        tmp_path,
        model(
            training_hooks=lambda mean, apart: tf.estimator.SummarySaverHook(
                1, output_dir=tmp_path, summary_op=3
            )
        ),
    )
    with pytest.raises(TypeError, match="must be a summary of the model function"):
        made.train(data(), steps=1)
