"""Sums over the cores of a TPU."""

import numpy as np
import pytest

from frontends import tf

v1 = tf.compat.v1


@pytest.mark.parametrize(("reduction", "change"), [("MEAN", 2.5), ("SUM", 10.0)])
def test_gradients_are_added_up_once(reduction, change):
    strategy = tf.distribute.MirroredStrategy([f"cpu:{index}" for index in range(4)])
    with strategy.scope():
        weight = tf.Variable(0.0)
    inner = v1.train.GradientDescentOptimizer(1.0)
    optimizer = tf.tpu.CrossShardOptimizer(inner, getattr(v1.losses.Reduction, reduction))

    class Twice(v1.train.Optimizer):
        """Hands on what it gets."""

        def apply_gradients(self, grads_and_vars, global_step=None, name=None):
            return inner.apply_gradients(grads_and_vars, global_step, name)

    def step(x):
        with tf.GradientTape() as tape:
            loss = weight * x
        gradient = tape.gradient(loss, weight)
        if reduction == "MEAN":
            gradient = gradient / 4
        optimizer.apply_gradients([(gradient, weight)])
        v1.tpu.CrossShardOptimizer(Twice(False, "twice")).apply_gradients([(gradient, weight)])
        return v1.tpu.cross_replica_sum(x)

    inputs = strategy.experimental_distribute_values_from_function(
        lambda context: np.float32(context.replica_id_in_sync_group + 1)
    )
    total = strategy.run(step, args=(inputs,))
    assert float(strategy.experimental_local_results(total)[0]) == 10
    assert float(weight) == -2 * change


def test_what_it_does_not_take():
    inner = v1.train.AdamOptimizer()
    with pytest.raises(ValueError, match="SUM and MEAN"):
        tf.tpu.CrossShardOptimizer(inner, v1.losses.Reduction.NONE)
    with pytest.raises(TypeError, match="leave it out"):
        tf.tpu.CrossShardOptimizer(object())
    for call in (
        lambda: tf.tpu.CrossShardOptimizer(inner, group_assignment=[[0]]),
        lambda: tf.tpu.cross_replica_sum(1.0, [[0]]),
    ):
        with pytest.raises(NotImplementedError, match="over all replicas"):
            call()


def test_variables_stay_float32():
    with v1.variable_scope("top"), tf.tpu.bfloat16_scope() as scope:
        short = v1.get_variable("bfloat16_scope_w", [2], tf.bfloat16)
        long = v1.get_variable("bfloat16_scope_v", [2])
    assert scope.name.startswith("top")
    assert (short.dtype, long.dtype) == (tf.bfloat16, tf.float32)
    assert v1.global_variables()[-2].dtype == tf.float32
