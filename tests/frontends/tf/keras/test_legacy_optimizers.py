"""Optimizers of Keras 2; their numbers are compared with TensorFlow's in tests/golden/scenarios/legacy_optimizers.py."""

import numpy as np
import pytest

from frontends import tf
from tests.frontends.tf.keras.strategies import mirrored

legacy = tf.keras.optimizers.legacy


def test_arguments():
    assert float(legacy.SGD().learning_rate) == pytest.approx(0.01)
    assert float(legacy.Adam(lr=1).learning_rate) == 1.0
    assert legacy.SGD(0.1, 0.9, True).nesterov
    assert isinstance(legacy.RMSprop(), legacy.Optimizer)
    with pytest.raises(ValueError, match="foo"):
        legacy.Adam(foo=1)


@pytest.mark.parametrize("name", ["Adadelta", "Adam", "Ftrl", "SGD"])
def test_they_are_classes_that_are_saved_with_their_decay(name):
    cls = getattr(legacy, name)
    optimizer = type("Own", (cls,), {})(0.5, decay=0.25)
    assert isinstance(optimizer, cls)
    saved = tf.keras.optimizers.serialize(cls(0.5, decay=0.25))
    for again in (cls.from_config(optimizer.get_config()), tf.keras.optimizers.deserialize(saved)):
        again.iterations.assign(4)
        assert again.decay == 0.25
        assert float(again.learning_rate) == 0.5
        weight = tf.Variable([1.0])
        again.apply_gradients([(tf.constant([0.5]), weight)])
        optimizer = cls(0.25)
        optimizer.iterations.assign(4)
        expected = tf.Variable([1.0])
        optimizer.apply_gradients([(tf.constant([0.5]), expected)])
        np.testing.assert_allclose(weight.numpy(), expected.numpy(), rtol=1e-6)


@pytest.mark.parametrize("replicas", [1, 2])
def test_the_rate_decays_in_fit_and_callbacks_change_it(replicas):
    with mirrored(replicas).scope():
        layer = tf.keras.layers.Dense(1, use_bias=False, kernel_initializer="zeros")
        model = tf.keras.Sequential([tf.keras.Input((1,)), layer])
        # The gradient is -1, whatever the weight: a step adds the rate to it.
        model.compile(legacy.SGD(0.5, decay=1.0), lambda y_true, y_pred: -y_pred)
    halve = tf.keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate / 2)
    model.fit(
        np.ones((4, 1)), np.ones((4, 1)), batch_size=2, epochs=2, verbose=0, callbacks=[halve]
    )
    expected = 0.25 * (1 + 1 / 2) + 0.125 * (1 / 3 + 1 / 4)
    np.testing.assert_allclose(layer.kernel.numpy(), [[expected]], rtol=1e-6)
    assert float(model.optimizer.lr) == 0.125


def test_a_schedule_decays_too():
    weight = tf.Variable(0.0)
    schedule = tf.keras.optimizers.schedules.PiecewiseConstantDecay([0], [1.0, 0.5])
    optimizer = legacy.SGD(schedule, decay=1.0)
    for _ in range(2):
        optimizer.apply_gradients([(tf.constant(-1.0), weight)])
    assert weight.numpy() == 1.0 + 0.5 / 2


def test_variables_may_be_called():
    optimizer, weight = legacy.Adam(0.1), tf.Variable([1.0, 2.0])
    optimizer.apply_gradients([(tf.ones(2), weight)])
    assert len(optimizer.variables) == len(optimizer.variables()) == 4
    assert [one.shape for one in optimizer.weights] == [(), (2,), (2,)]


def test_what_cannot_be():
    optimizer, weight = legacy.Adam(0.1), tf.Variable([1.0, 2.0])
    with pytest.raises(ValueError, match="after its first step"):
        optimizer.set_weights([0, [1.0, 2.0], [1.0, 2.0]])
    optimizer.apply_gradients([(tf.ones(2), weight)])
    with pytest.raises(KeyError, match=r"\['m', 'v'\], but got 'vhat'"):
        optimizer.get_slot(weight, "vhat")
    with pytest.raises(ValueError, match="tape that recorded the loss"):
        optimizer._compute_gradients(tf.constant(1.0), [weight])
    with pytest.raises(RuntimeError, match="eager execution"):
        optimizer.get_gradients(tf.constant(1.0), [weight])
    other = tf.Variable(1.0, name="other")

    @tf.function
    def gradients():
        return optimizer.get_gradients(tf.reduce_sum(weight), [weight, other])

    with pytest.raises(ValueError, match="gradient of other"):
        gradients()
