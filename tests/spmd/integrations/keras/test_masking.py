"""Losses of Keras leave padding out."""

import keras
import numpy as np
import pytest

import spmd


@pytest.mark.parametrize("reduction", ["sum", "sum_over_batch_size", "mean_with_sample_weight"])
@pytest.mark.parametrize("shape", [pytest.param((3,), marks=pytest.mark.slow), (4, 3)])
def test_losses_leave_padding_out(mesh_of, reduction, shape):
    random = np.random.default_rng(0)
    y = random.normal(size=(6, *shape)).astype(np.float32)
    p = random.normal(size=(6, *shape)).astype(np.float32)
    loss = keras.losses.MeanSquaredError(reduction=reduction)
    step = spmd.Step(lambda batch: loss(*batch), mesh_of(4), keep_per_replica=True)
    (batch,) = spmd.distribute((y, p), mesh_of(4), batch_size=8)
    values = [float(value) for value in step(batch)]
    expected = [float(loss(y[i : i + 2], p[i : i + 2])) for i in (0, 2, 4)]
    np.testing.assert_allclose(values, [*expected, 0.0], rtol=1e-5)


def test_masks_of_keras_and_padding(mesh_of):
    layer = keras.layers.Embedding(5, 2, mask_zero=True)
    loss = keras.losses.MeanSquaredError()
    tokens = np.int32([[1, 2, 0], [3, 0, 0], [4, 1, 2]])
    targets = np.ones((3, 3, 2), np.float32)
    expected = float(loss(targets, layer(tokens)))
    step = spmd.Step(lambda batch: loss(batch[1], layer(batch[0])), mesh_of(1))
    for size in (3, 4, 8):
        (batch,) = spmd.distribute((tokens, targets), mesh_of(1), batch_size=size)
        assert float(step(batch)[0]) == pytest.approx(expected, rel=1e-5)
