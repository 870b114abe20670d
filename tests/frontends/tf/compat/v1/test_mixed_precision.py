"""Optimizers that scale a loss, for scripts that had TensorFlow rewrite their graph."""

import numpy as np
import pytest

from frontends import tf

rewrite = tf.train.experimental.enable_mixed_precision_graph_rewrite


def trained(optimizer, scaled):
    """Trains one variable by one step of a loop, which scales its loss or does not."""
    variable = tf.Variable([1.0, 2.0])

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(variable**2)
            if scaled:
                loss = optimizer.get_scaled_loss(loss)
        gradients = tape.gradient(loss, [variable])
        if scaled:
            gradients = optimizer.get_unscaled_gradients(gradients)
        optimizer.apply_gradients(zip(gradients, [variable], strict=True))

    step()
    return variable.numpy()


@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("scale", ["dynamic", 128])
def test_numbers_are_those_of_the_optimizer_alone(scaled, scale):
    optimizer = rewrite(tf.keras.optimizers.SGD(0.1), scale)
    assert isinstance(optimizer, tf.keras.mixed_precision.LossScaleOptimizer)
    np.testing.assert_allclose(trained(optimizer, scaled), [0.8, 1.6], rtol=1e-6)


def test_a_fixed_scale_is_what_losses_are_multiplied_by():
    optimizer = rewrite(tf.keras.optimizers.SGD(0.1), 128)
    assert optimizer.get_scaled_loss(tf.constant(2.0)) == 256


def test_fit():
    weights = []
    for optimizer in (tf.keras.optimizers.SGD(0.1), rewrite(tf.keras.optimizers.SGD(0.1))):
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones")])
        model.compile(optimizer, "mse")
        model.fit(np.ones((4, 2)), np.zeros((4, 1)), verbose=0)
        weights.append(model.get_weights()[0])
    np.testing.assert_allclose(*weights, rtol=1e-6)


def test_an_optimizer_of_tensorflow_1_stays_as_it_is():
    optimizer = tf.compat.v1.train.AdamOptimizer()
    assert tf.compat.v1.mixed_precision.enable_mixed_precision_graph_rewrite(optimizer) is optimizer
    tf.compat.v1.train.experimental.disable_mixed_precision_graph_rewrite()


def test_what_is_no_optimizer_is_refused():
    with pytest.raises(ValueError, match=r"optimizers\.get"):
        rewrite("adam")
    with pytest.raises(ValueError, match="must not already be"):
        rewrite(rewrite(tf.keras.optimizers.SGD()))


@pytest.mark.parametrize("scale", [0, -1, "abc", None])
def test_a_scale_is_a_positive_number(scale):
    with pytest.raises(ValueError, match="must be 'dynamic' or a positive number"):
        rewrite(tf.keras.optimizers.SGD(), scale)
