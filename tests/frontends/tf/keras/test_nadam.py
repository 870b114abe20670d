"""Nadam of Keras 2; its numbers are compared with TensorFlow's in tests/golden/scenarios/legacy_optimizers.py."""

import numpy as np

from frontends import tf

keras = tf.keras


def trained(optimizer):
    weight = tf.Variable([1.0, -2.0])
    for step in range(3):
        optimizer.apply_gradients([(tf.constant([0.5, 1.0]) * step, weight)])
    return weight.numpy()


def test_a_schedule_of_one_is_that_of_keras_3():
    expected = trained(keras.optimizers.Nadam(0.1))
    found = trained(keras.optimizers.legacy.Nadam(0.1, schedule_decay=1.0))
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert not np.allclose(trained(keras.optimizers.legacy.Nadam(0.1)), expected, rtol=1e-4)


def test_a_schedule_is_saved():
    optimizer = keras.optimizers.legacy.Nadam(0.1, schedule_decay=0.5)
    again = type(optimizer).from_config(optimizer.get_config())
    np.testing.assert_array_equal(trained(again), trained(optimizer))


def test_it_trains_in_fit():
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.compile(keras.optimizers.legacy.Nadam(0.1), "mse")
    history = model.fit(np.ones((4, 2)), np.ones((4, 1)), epochs=3, verbose=0).history
    assert history["loss"][-1] < history["loss"][0]
