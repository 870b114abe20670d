"""Losses of saturated activations. The numbers are those of TensorFlow 2.21, with Keras 3.15 and with tf_keras."""

import gc

import numpy as np
import pytest

from frontends import tf
from frontends.tf.keras import _logits

_LOSSES = tf.keras.losses


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    ("activation", "loss", "target", "x", "value", "gradient"),
    [
        ("sigmoid", _LOSSES.BinaryCrossentropy(), [[0.0]], [[40.0]], 40.0, [[1.0]]),
        *[
            ("softmax", loss, target, [[200.0, 0.0, 0.0]], 200.0, [[1.0, -1.0, 0.0]])
            for loss, target in (
                (_LOSSES.CategoricalCrossentropy(), [[0.0, 1.0, 0.0]]),
                (_LOSSES.SparseCategoricalCrossentropy(), [1]),
            )
        ],
    ],
)
def test_a_saturated_activation_has_a_gradient(
    activation, loss, target, x, value, gradient, compiled
):
    variable, layer = tf.Variable(x), tf.keras.layers.Activation(activation)

    def compute():
        with tf.GradientTape() as tape:
            found = loss(tf.constant(target), layer(variable))
        return found, tape.gradient(found, variable)

    found, slope = (tf.function(compute) if compiled else compute)()
    assert float(found) == value
    np.testing.assert_array_equal(slope, gradient)


def test_fit_trains_a_saturated_sigmoid():
    layer = tf.keras.layers.Dense(1, "sigmoid", kernel_initializer="ones", use_bias=False)
    model = tf.keras.Sequential([tf.keras.Input((1,)), layer])
    model.compile(tf.keras.optimizers.SGD(0.01), "binary_crossentropy")
    history = model.fit(np.float32([[40.0]]), np.float32([[0.0]]), verbose=0).history
    assert history == {"loss": [40.0]}
    np.testing.assert_allclose(model.get_weights()[0], [[0.6]], rtol=1e-6)


def test_probabilities_that_no_activation_gave_are_taken_as_they_are():
    loss = _LOSSES.BinaryCrossentropy()(tf.constant([[0.0]]), tf.constant([[0.5]]))
    assert float(loss) == pytest.approx(np.log(2.0))


def test_logits_go_with_the_output():
    gc.collect()
    before = len(_logits._LOGITS)
    output = tf.keras.activations.sigmoid(tf.constant([1.0]))
    assert len(_logits._LOGITS) == before + 1
    del output
    gc.collect()
    assert len(_logits._LOGITS) == before
