"""Optimizers of `tf.keras` in a custom loop that have state of their own, made by the first step."""

import keras
import numpy as np
import pytest

from frontends import tf

NAMES = ("Adadelta", "Adagrad", "Adam", "Adamax", "AdamW", "Ftrl", "Nadam", "RMSprop", "SGD")


@pytest.mark.parametrize("name", NAMES)
def test_the_first_step_makes_an_optimizers_state(name):
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    with strategy.scope():
        optimizer = getattr(tf.keras.optimizers, name)(0.1)
        weight = tf.Variable([1.0, 2.0])

    def step():
        optimizer.apply_gradients([(tf.constant([0.5, 0.25]), weight)])

    alone = getattr(keras.optimizers, name)(0.1)
    expected = keras.Variable(np.array([1.0, 2.0], np.float32))
    alone.build([expected])
    for _ in range(2):
        strategy.run(step)
        alone.apply([np.array([1.0, 0.5], np.float32)], [expected])  # the sum over two replicas
    np.testing.assert_allclose(weight.numpy(), np.array(expected.value), rtol=1e-6)
    assert int(optimizer.iterations.numpy()) == 2
