"""`strategy.verify` on the step of a TensorFlow script: the strategy that the step asks for is that of
the devices it runs on."""

import numpy as np
import pytest

from frontends import tf


def _step(scaled):
    weight = tf.Variable(np.float32([2.0, 1.0]), name="weight")

    def step(x):
        context = tf.distribute.get_replica_context()
        with tf.GradientTape() as tape:
            loss = tf.nn.compute_average_loss(tf.reduce_sum(x * weight, axis=1) ** 2)
            penalty = tf.reduce_sum(weight**2)
            loss += tf.nn.scale_regularization_loss(penalty) if scaled else penalty
        gradient = context.all_reduce("SUM", tape.gradient(loss, weight))
        weight.assign_sub(0.1 * gradient)
        return loss

    return step


def _batch():
    return np.random.default_rng(0).normal(size=(6, 2)).astype(np.float32)


def test_a_step_that_scales_its_penalty():
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1", "cpu:2"])
    found = strategy.verify(_step(scaled=True), _batch())
    assert found.ok, str(found)
    with strategy.scope():
        assert strategy.verify(_step(scaled=True), _batch()).ok


def test_a_step_that_does_not():
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1", "cpu:2"])
    found = strategy.verify(_step(scaled=False), _batch())
    assert not found.ok
    assert "the variable weight:0 ends as" in str(found)


def test_arguments_as_for_run():
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    step = _step(scaled=True)
    assert strategy.verify(step, args=(_batch(),)).ok
    with pytest.raises(TypeError, match=r"strategy\.verify\(train_step, batch\)"):
        strategy.verify(tf.function(step), _batch())
