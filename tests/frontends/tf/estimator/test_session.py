"""What hooks get in place of a session."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf.estimator.model_checkpoints import ModelCheckpoints
from frontends.tf.estimator.model_step import ModelStep
from frontends.tf.estimator.session import Session
from frontends.tf.graph import VariableStore
from tests.frontends.tf.estimator.models import data, linear


class Looking(tf.estimator.SessionRunHook):
    """Reads variables when they have their values, and asks for what there is not."""

    def after_create_session(self, session, coord):
        variables = session.graph.store.variables
        self.found = session.run({"w": variables["dense/kernel"], "names": "dense/bias"})
        with pytest.raises(ValueError, match=r"session.run\(feed_dict=...\) needs placeholders"):
            session.run([], feed_dict={1: 2})
        with pytest.raises(ValueError, match="'x' is neither a variable nor a tensor"):
            session.run("x")
        with session.graph.as_default():
            add = variables["dense/bias"].assign_add([1.0])
            assert session.run(tf.no_op()) is None
            with pytest.raises(ValueError, match=r"runs no operations\. Have the step run it"):
                session.run(tf.group(add))


def test_variables_are_read(tmp_path):
    hook = Looking()
    tf.estimator.Estimator(linear, tmp_path, params={"rate": 0.1}).train(data(), hooks=[hook])
    assert hook.found == {"w": np.ones((1, 1)), "names": np.zeros(1)}


def test_summaries_of_a_step_have_values(tmp_path):
    def function(features, labels):
        tf.summary.scalar("total", tf.reduce_sum(features))
        tf.summary.text("words", "some")
        return tf.estimator.EstimatorSpec("train", loss=features[0], train_op=tf.no_op())

    store, strategy = VariableStore(), tf.distribute.get_strategy()
    step = ModelStep(function, "train", store, scales_loss=False)
    outputs = strategy.run(step, (np.ones(3, np.float32), None))
    checkpoints = ModelCheckpoints(store, str(tmp_path), tf.estimator.RunConfig())
    session = Session(store, strategy, step.made, checkpoints)
    session.outputs = outputs
    total, words, more = session.summary(values={"total": 5.0, "more": 4.0}).value
    assert (total.tag, total.simple_value) == ("total", 3)
    assert (words.tag, words.tensor.string_val) == ("words", [b"some"])
    assert (more.tag, more.simple_value) == ("more", 4)
    assert [one.tag for one in session.summary(["total"]).value] == ["total"]


def test_labels_out_of_range_are_why_a_loss_is_nan(tmp_path):
    def model_fn(features, labels, mode):
        logits = tf.layers.dense(features, 2)
        loss = tf.losses.sparse_softmax_cross_entropy(tf.cast(labels, tf.int32), logits)
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

    estimator = tf.estimator.Estimator(model_fn, str(tmp_path))
    for run in (estimator.train, estimator.evaluate):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"from 0 to 1, .* from 1 to 2"):
            run(data(), steps=1)


def test_fetched_variables_are_those_before_the_step_and_the_session_reads_those_after_it(tmp_path):
    seen = []

    class Steps(tf.estimator.SessionRunHook):
        def before_run(self, run_context):
            return tf.estimator.SessionRunArgs(tf.compat.v1.train.get_global_step())

        def after_run(self, run_context, run_values):
            step = tf.compat.v1.train.get_global_step()
            seen.append((int(run_values.results), int(run_context.session.run(step))))

    estimator = tf.estimator.Estimator(linear, tmp_path, params={"rate": 0.1})
    estimator.train(data(), hooks=[Steps()])
    assert seen == [(0, 1), (1, 2)]
