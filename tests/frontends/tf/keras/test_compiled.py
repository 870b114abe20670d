"""Train steps in the style of Keras 2, which call what `compile` made."""

import numpy as np
import pytest

from frontends import tf

X = np.linspace(-1, 1, 24, dtype=np.float32).reshape(8, 3)
Y = X.sum(1, keepdims=True)


class OwnSteps(tf.keras.Sequential):
    """What Keras's own steps do, as guides of Keras 2 wrote it."""

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.compiled_loss(y, y_pred, regularization_losses=self.losses)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables, strict=True))
        self.compiled_metrics.update_state(y, y_pred)
        return {metric.name: metric.result() for metric in self.metrics}

    def test_step(self, data):
        x, y = data
        y_pred = self(x, training=False)
        self.compiled_loss(y, y_pred, regularization_losses=self.losses)
        self.compiled_metrics.update_state(y, y_pred)
        return {metric.name: metric.result() for metric in self.metrics}


def history(make, strategy):
    with strategy.scope():
        dense = tf.keras.layers.Dense(
            1, kernel_initializer="ones", kernel_regularizer=tf.keras.regularizers.L2(0.1)
        )
        model = make([tf.keras.Input((3,)), dense])
        model.compile("sgd", "mse", metrics=["mae"])
    found = model.fit(X, Y, batch_size=4, epochs=2, shuffle=False, verbose=0).history
    return found, model.evaluate(X, Y, batch_size=4, verbose=0, return_dict=True), model


@pytest.mark.parametrize("devices", [1, 2])
def test_they_train_as_keras_does(devices):
    strategy = tf.distribute.MirroredStrategy([f"cpu:{index}" for index in range(devices)])
    trained, evaluated, model = history(OwnSteps, strategy)
    expected, expected_end, _ = history(tf.keras.Sequential, strategy)
    assert set(trained) == set(expected)
    for name, values in expected.items():
        np.testing.assert_allclose(trained[name], values, rtol=1e-6)
    np.testing.assert_allclose(evaluated["loss"], expected_end["loss"], rtol=1e-6)
    assert [metric.name for metric in model.compiled_metrics.metrics] == ["mae"]


def test_a_model_without_metrics_updates_none():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    assert model.compiled_metrics.metrics == []
    model.compiled_metrics.update_state(Y, Y)
