"""Control flow on tensors in users' Keras classes."""

import inspect
from typing import Any

import numpy as np
import pytest

from frontends import tf

keras = tf.keras


class Gate(keras.layers.Layer):
    """Halves a batch whose mean is large, and counts how often."""

    def __init__(self, limit):
        super().__init__()
        self.limit = limit
        self.halved = self.add_weight(
            shape=(), initializer="zeros", trainable=False, aggregation="only_first_replica"
        )

    def call(self, x, training=False):
        if tf.reduce_mean(x) > self.limit:
            x = x / 2
            if training:
                self.halved.assign_add(1.0)
        return self.repeat(x)

    def repeat(self, x):
        for _ in range(2):
            if tf.reduce_max(x) < 1.0:
                x = x * 3
        return x


def test_a_layer_that_branches_runs_in_models_and_functions():
    layer = Gate(2.0)
    model = keras.Sequential([keras.Input((2,)), layer])
    rows = np.array([[4, 4], [0.1, 0.2]], np.float32)
    runs: list[Any] = [model, tf.function(model), model.predict]
    for run in runs:
        np.testing.assert_allclose(run(rows[:1]), [[2, 2]])
        np.testing.assert_allclose(run(rows[1:]), [[0.9, 1.8]], rtol=1e-6)
    assert float(layer.halved.numpy()) == 0
    tf.function(layer)(rows[:1], training=True)
    assert float(layer.halved.numpy()) == 1
    assert list(inspect.signature(layer.call).parameters) == ["x", "training"]


@pytest.mark.parametrize("replicas", [1, 2])
def test_train_step_losses_and_metrics_that_branch(replicas):
    class Hinge(keras.losses.Loss):
        def call(self, y_true, y_pred):
            error = tf.abs(y_true - y_pred)
            if tf.reduce_max(error) > 100.0:
                error = error / 100.0
            return tf.reduce_mean(error, axis=-1)

    class Large(keras.metrics.Metric):
        def __init__(self):
            super().__init__(name="large")
            self.count = self.add_weight(name="count", initializer="zeros")

        def update_state(self, y_true, y_pred, sample_weight=None):
            if tf.reduce_max(y_true) > 100.0:
                self.count.assign_add(1.0)

        def result(self):
            return self.count

    class Model(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = keras.layers.Dense(1, kernel_initializer="zeros")

        def call(self, x):
            y = self.dense(x)
            if tf.reduce_max(x) > 100.0:
                y = y + 1.0
            return y

    strategy = tf.distribute.MirroredStrategy([f"cpu:{i}" for i in range(replicas)])
    with strategy.scope():
        model = Model()
        model.compile(keras.optimizers.SGD(0.0), loss=Hinge(), metrics=[Large()])
    x = np.ones((4, 3), np.float32)
    y = np.full((4, 1), 300, np.float32)
    found = model.fit(x, y, batch_size=4, verbose=0).history
    np.testing.assert_allclose([found["loss"], found["large"]], [[3.0], [replicas]])
    found = model.evaluate(x * 200, y / 300, batch_size=4, verbose=0)
    np.testing.assert_allclose(found, [0, 0])
