"""A model function as a step."""

import jax.numpy as jnp
import numpy as np
import pytest

from frontends import tf
from frontends.tf.estimator.model_step import ModelStep
from frontends.tf.graph import VariableStore, default_graph

v1 = tf.compat.v1


class Hook(tf.estimator.SessionRunHook):
    def __init__(self, tensors):
        self.tensors = tensors


def _count(features, labels):
    total = v1.get_variable("total", [], initializer=tf.zeros_initializer(), trainable=False)
    loss = tf.reduce_sum(features)
    graph = default_graph()
    graph.named(loss * 2, "double")
    train_op = graph.operation("count", lambda: total.assign_add(1))
    graph.operation("never", lambda: total.assign(100.0))
    hooks = [Hook({"third": [loss * 3, "text"]})]
    return tf.estimator.EstimatorSpec("train", loss=loss, train_op=train_op, training_hooks=hooks)


def test_a_step_runs_what_is_fetched_and_gives_tensors_by_name():
    store = VariableStore()
    step = ModelStep(_count, "train", store, scales_loss=False)
    strategy = tf.distribute.get_strategy()
    for _ in range(2):
        outputs = strategy.run(step, (np.ones(3, np.float32), None))
    found = {
        name: float(strategy.experimental_local_results(one)[0]) for name, one in outputs.items()
    }
    assert found == {"loss": 3, "double:0": 6, "hook 0//tensors/third/0": 9}
    assert float(store.variables["total"].numpy()) == 2
    assert step.made.spec.training_hooks[0].tensors["third"][1] == "text"


def test_what_a_hook_has_of_the_function_around_its_class_can_be_fetched():
    def function(features, labels):
        loss = tf.reduce_sum(features)

        class Fetching(tf.estimator.SessionRunHook):
            def before_run(self, run_context):
                return tf.estimator.SessionRunArgs({"double": double, "later": later})

        double = loss * 2
        spec = tf.estimator.EstimatorSpec(
            "train", loss=loss, train_op=tf.no_op(), training_hooks=[Fetching()]
        )
        if features is None:
            later = loss  # never assigned
        return spec

    step = ModelStep(function, "train", VariableStore(), scales_loss=False)
    outputs = tf.distribute.get_strategy().run(step, (np.ones(3, np.float32), None))
    assert outputs.keys() == {"loss", "hook 0//before_run/double"}


def test_what_is_fetched_only_sometimes_runs_only_then():
    def function(features, labels):
        mean, update = v1.metrics.mean(features)
        percent = tf.identity(100 * update, name="percent")
        tf.summary.scalar("before", mean)
        counted = v1.get_variable("counted", [], initializer=tf.zeros_initializer())
        hooks = [Hook(counted.assign_add(1)), Hook(tf.group(counted.assign_add(10), percent))]
        spec = tf.estimator.EstimatorSpec
        return spec("train", None, mean * 0, tf.no_op(), training_hooks=hooks)

    store, strategy = VariableStore(), tf.distribute.get_strategy()
    step = ModelStep(function, "train", store, scales_loss=False, fetched=frozenset(["percent:0"]))
    strategy.trace(step, (np.ones(2, np.float32), None))
    names = ["percent:0", "hook 0//tensors", "hook 1//tensors"]
    assert step.made.optional == names
    found = []
    for batch, asked in ((1, [1, 0, 0]), (3, [0, 1, 0]), (5, [0, 0, 1]), (6, [1, 0, 1])):
        given = (
            np.full(2, batch, np.float32),
            None,
            dict(zip(names, map(np.bool_, asked), strict=True)),
        )
        outputs = strategy.run(step, given)
        percent = float(strategy.experimental_local_results(outputs["percent:0"])[0])
        found.append((percent, float(store.variables["counted"].numpy())))
    assert [count for _, count in found] == [0, 1, 11, 21]
    assert [found[0][0], found[3][0]] == [100, 400]


@pytest.mark.parametrize("mode", ["train", "infer"])
def test_gradients_can_be_taken_in_each_mode(mode):
    def function(features, labels):
        slope = tf.gradients(tf.reduce_sum(features**2), features)[0]
        loss = tf.reduce_sum(slope)
        return tf.estimator.EstimatorSpec(mode, slope, loss, train_op=tf.no_op())

    step = ModelStep(function, mode, VariableStore(), scales_loss=False)
    strategy = tf.distribute.get_strategy()
    outputs = strategy.run(step, (np.arange(3, dtype=np.float32), None))
    assert float(strategy.experimental_local_results(outputs["loss"])[0]) == 6


@pytest.mark.parametrize("scales", [True, False])
def test_the_graph_knows_whether_losses_are_scaled(scales):
    seen = []

    def function(features, labels):
        seen.append(default_graph().scales_loss)
        return tf.estimator.EstimatorSpec("infer", predictions=features)

    step = ModelStep(function, "infer", VariableStore(), scales_loss=scales)
    tf.distribute.get_strategy().run(step, (jnp.ones(2), None))
    assert set(seen) == {scales}
