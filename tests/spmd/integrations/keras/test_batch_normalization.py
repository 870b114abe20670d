"""Batch normalization in replicas, and the squared deviations that it is made of."""

import jax
import jax.numpy as jnp
import keras
import numpy as np
import pytest

import spmd
from spmd.integrations.keras import patch_keras
from spmd.integrations.keras.batch_normalization import squared_deviations
from tests.spmd.integrations.keras.loops import make_model, trained

patch_keras()  # before a layer is made

VALUES = jnp.asarray(np.random.default_rng(0).normal(3, 2, (5, 4, 3)), jnp.float32)
SCALE = jnp.asarray([1.0, 2.0, 3.0])


def variance(values):
    return squared_deviations(values, values.mean((0, 1)), (0, 1)).reshape(3) / 20


def scaled(moment):
    """Something of which no derivative is simple."""
    return lambda values: (SCALE * jnp.sin(moment(values))).sum()


def test_they_make_the_variance():
    np.testing.assert_allclose(variance(VALUES), VALUES.var((0, 1)), rtol=1e-6)


@pytest.mark.parametrize(
    "derivative",
    [jax.grad, jax.jacfwd, jax.hessian, lambda f: jax.grad(lambda x: (jax.grad(f)(x) ** 2).sum())],
    ids=["grad", "forward", "hessian", "grad of a gradient's norm"],
)
def test_derivatives_are_those_of_the_variance(derivative):
    ours = derivative(scaled(variance))(VALUES)
    theirs = derivative(scaled(lambda values: values.var((0, 1))))(VALUES)
    np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-6)


def test_the_mean_may_be_that_of_more_values():
    def of_parts(values):
        mean = values.mean((0, 1))
        first, rest = (squared_deviations(part, mean, (0, 1)) for part in (values[:2], values[2:]))
        return (first + rest).reshape(3) / 20

    ours = jax.grad(scaled(of_parts))(VALUES)
    np.testing.assert_allclose(ours, jax.grad(scaled(variance))(VALUES), rtol=1e-5, atol=1e-7)


def normalized(mesh, layer, rows):
    x = np.random.default_rng(1).normal(size=(rows, 2)).astype(np.float32)
    step = spmd.Step(lambda batch: layer(batch, training=True), mesh)
    outputs = [step(batch) for batch in spmd.distribute(x, mesh, batch_size=8)]
    return x, np.concatenate([spmd.gather(out) for out in outputs])


def statistics(block):
    return block.mean(0), block.var(0)


@pytest.mark.parametrize("rows", [pytest.param(8, marks=pytest.mark.slow), 6, 3])
def test_batch_normalization_averages_what_each_replica_saw(mesh_of, rows):
    layer = keras.layers.BatchNormalization(momentum=0.9)
    x, out = normalized(mesh_of(4), layer, rows)
    each = -(-rows // 4)  # as many rows a replica, first replicas first
    blocks = np.split(x, range(each, rows, each))
    means, variances = zip(*map(statistics, blocks), strict=True)
    np.testing.assert_allclose(layer.moving_mean, 0.1 * np.mean(means, 0), rtol=1e-5)
    np.testing.assert_allclose(
        layer.moving_variance, 0.9 + 0.1 * np.mean(variances, 0), rtol=1e-5, atol=1e-6
    )
    first = (blocks[0] - means[0]) / np.sqrt(variances[0] + 1e-3)
    np.testing.assert_allclose(out[:each], first, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("rows", [pytest.param(8, marks=pytest.mark.slow), 6, 3])
def test_synchronized_batch_normalization_sees_the_global_batch(mesh_of, rows):
    layer = keras.layers.BatchNormalization(momentum=0.9, synchronized=True)
    x, out = normalized(mesh_of(4), layer, rows)
    mean, variance = statistics(x)
    np.testing.assert_allclose(layer.moving_mean, 0.1 * mean, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(layer.moving_variance, 0.9 + 0.1 * variance, rtol=1e-5)
    np.testing.assert_allclose(out, (x - mean) / np.sqrt(variance + 1e-3), rtol=1e-4, atol=1e-5)
    assert layer(x, training=True).shape == x.shape, "outside of a step there is one replica"


def test_batch_normalization_takes_keras_positional_arguments():
    layer = keras.layers.BatchNormalization(-1, 0.9, 1e-3, True, True, "ones", "zeros")
    layer.build((None, 2))
    np.testing.assert_array_equal(layer.beta, [1, 1])
    np.testing.assert_array_equal(layer.gamma, [0, 0])
    again = keras.layers.BatchNormalization.from_config(layer.get_config())
    assert (again.momentum, again.synchronized) == (0.9, False)


@pytest.mark.parametrize("replicas", [pytest.param(2, marks=pytest.mark.slow), 4])
def test_a_model_with_batch_normalization_survives_empty_replicas(mesh_of, replicas):
    model = make_model(keras.layers.BatchNormalization())
    losses, weights = trained(mesh_of(replicas), model, keras.optimizers.SGD(0.1))
    assert np.all(np.isfinite(losses))
    assert all(np.all(np.isfinite(weight)) for weight in weights)
