"""Metrics of Keras in replicas: padding is left out, and a result is that of all replicas."""

import keras
import numpy as np
import pytest

import spmd
from tests.spmd.integrations.keras.loops import ROWS, make_model, trained


def test_regularization_and_metrics(mesh_of):
    results = []
    for replicas in (1, 4):
        metric = keras.metrics.SparseCategoricalAccuracy()
        keras.utils.set_random_seed(0)  # for the layer that is made before the model
        model = make_model(keras.layers.Dense(4, kernel_regularizer="l2"))
        trained(mesh_of(replicas), model, keras.optimizers.SGD(0.1), metric=metric)
        results.append(float(metric.result()))
        assert float(metric.count.value) == 2 * ROWS, "no row is counted twice, no padding"
        metric.reset_state()
        assert float(metric.count.value) == 0
    assert results[0] == pytest.approx(results[1])


def test_sample_weights_and_padding(mesh_of):
    metric = keras.metrics.MeanSquaredError()
    loss = keras.losses.MeanSquaredError(reduction="sum")
    y, p, w = np.float32([[1], [2], [4]]), np.zeros((3, 1), np.float32), np.float32([1, 2, 3])

    def step(batch):
        y, p, w = batch
        metric.update_state(y, p, sample_weight=w)
        return spmd.all_reduce(loss(y, p, sample_weight=w))

    (batch,) = spmd.distribute((y, p, w), mesh_of(2), batch_size=4)
    total = float(spmd.Step(step, mesh_of(2))(batch))
    assert total == pytest.approx(1 * 1 + 2 * 4 + 3 * 16)
    assert float(metric.result()) == pytest.approx(total / 6)


def test_a_metric_read_in_a_replica_is_that_of_all(mesh_of):
    metric = keras.metrics.Mean()

    def step(batch):
        metric.update_state(batch)

    train = spmd.Step(step, mesh_of(4))
    for batch in spmd.distribute(np.arange(6.0, dtype=np.float32), mesh_of(4), batch_size=8):
        train(batch)
    assert float(metric.result()) == 2.5


def test_a_metric_may_be_read_in_a_replica(mesh_of):
    metric = keras.metrics.Mean()

    def step(batch):
        metric.update_state(batch)
        return metric.result()

    train = spmd.Step(step, mesh_of(4))
    (batch,) = spmd.distribute(np.arange(6.0, dtype=np.float32), mesh_of(4), batch_size=8)
    assert float(train(batch)) == 2.5, "equal on all replicas, so it is one value"
    assert float(metric.result()) == 2.5
    assert float(metric.count.value) == 6
