"""What Keras's objects do otherwise in a replica."""

import keras
import numpy as np
import pytest

import spmd


def test_dropout_differs_between_replicas_and_repeats_with_the_seed(mesh_of):
    def masks():
        keras.utils.set_random_seed(0)
        layer = keras.layers.Dropout(0.5)
        step = spmd.Step(lambda x: layer(x, training=True), mesh_of(2))
        (batch,) = spmd.distribute(np.ones((2, 64), np.float32), mesh_of(2), batch_size=2)
        return [np.asarray(value) for _ in range(2) for value in step(batch)]

    first, second = masks(), masks()
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a, b)
    for index, one in enumerate(first):
        assert all(np.any(one != other) for other in first[index + 1 :])


def test_unseeded_random_numbers_are_keras_error(mesh_of):
    layer = keras.layers.Dense(1)
    step = spmd.Step(lambda x: layer(x) + keras.random.normal((1,)), mesh_of(2))
    with pytest.raises(ValueError, match="SeedGenerator"):
        step(np.ones((1, 1), np.float32))


def test_a_method_that_the_user_replaced_is_there_afterwards(mesh_of):
    metric, seen = keras.metrics.Mean(), []
    update = metric.update_state
    metric.update_state = own = lambda *args, **kwargs: seen.append(1) or update(*args, **kwargs)

    def step(batch):
        metric.update_state(batch)

    (batch,) = spmd.distribute(np.ones(4, np.float32), mesh_of(2), batch_size=4)
    spmd.Step(step, mesh_of(2))(batch)
    assert seen
    assert metric.update_state is own
