"""Optimizers of Keras in a step: as many replicas as you like, one result."""

import jax
import jax.numpy as jnp
import keras
import numpy as np
import pytest

import spmd
from tests.spmd.integrations.keras.loops import BATCH, gradients_of, make_data, make_model, trained

OPTIMIZERS = {
    "sgd": lambda: keras.optimizers.SGD(0.1),
    "momentum": lambda: keras.optimizers.SGD(0.1, momentum=0.9, nesterov=True),
    "adam": lambda: keras.optimizers.Adam(0.01, amsgrad=True),
    "clipped": lambda: keras.optimizers.SGD(0.1, global_clipnorm=0.1),
    "schedule": lambda: keras.optimizers.RMSprop(keras.optimizers.schedules.CosineDecay(0.1, 5)),
    "scaled": lambda: keras.optimizers.LossScaleOptimizer(
        keras.optimizers.SGD(0.1), initial_scale=1.0
    ),
    "averaged": lambda: keras.optimizers.SGD(0.1, use_ema=True, ema_overwrite_frequency=2),
    "accumulated": lambda: keras.optimizers.SGD(0.1, gradient_accumulation_steps=2),
}


@pytest.mark.parametrize("replicas", [pytest.param(2, marks=pytest.mark.slow), 4])
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name not in ("clipped", "accumulated") else ())
        for name in OPTIMIZERS
    ],
)
def test_every_number_of_replicas_trains_alike(mesh_of, name, replicas):
    expected = trained(mesh_of(1), make_model(), OPTIMIZERS[name]())
    found = trained(mesh_of(replicas), make_model(), OPTIMIZERS[name]())
    jax.tree.map(
        lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6), found, expected
    )


def test_unsummed_gradients_would_make_replicas_diverge(mesh_of):
    with pytest.raises(spmd.errors.ReplicaDivergenceError, match="kernel"):
        trained(
            mesh_of(2), make_model(), keras.optimizers.SGD(0.1), skip_gradients_aggregation=True
        )
    with pytest.raises(spmd.errors.ReplicaDivergenceError, match="kernel"):
        trained(
            mesh_of(2),
            make_model(),
            keras.optimizers.SGD(0.1),
            experimental_aggregate_gradients=False,
        )


def test_gradients_summed_by_hand(mesh_of):
    model, optimizer = make_model(), keras.optimizers.SGD(0.1)
    expected = trained(mesh_of(1), make_model(), keras.optimizers.SGD(0.1))[1]
    per_row = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction=None)

    def step(batch):
        x, y = batch
        _, gradients = gradients_of(lambda: spmd.average_loss(per_row(y, model(x))), model)
        optimizer.apply_gradients(
            zip(spmd.all_reduce(gradients), model.trainable_variables, strict=True),
            skip_gradients_aggregation=True,
        )

    train = spmd.Step(step, mesh_of(2))
    for _ in range(2):
        for batch in spmd.distribute(make_data(), mesh_of(2), batch_size=BATCH):
            train(batch)
    for weight, other in zip(model.weights, expected, strict=True):
        np.testing.assert_allclose(weight, other, rtol=1e-5, atol=1e-6)


def test_a_learning_rate_may_change_without_tracing_again(mesh_of):
    variable = keras.Variable(np.float32([1.0]), name="w")
    optimizer = keras.optimizers.SGD(0.5)

    def step():
        optimizer.apply_gradients([(jnp.ones(1), variable)])

    train = spmd.Step(step, mesh_of(2))
    train()
    optimizer.learning_rate = 0.25
    train()
    assert train.trace_count == 1
    np.testing.assert_allclose(variable, [1.0 - 2 * 0.5 - 2 * 0.25])


@pytest.mark.parametrize("bad", [np.inf, pytest.param(np.nan, marks=pytest.mark.slow)])
def test_a_scaled_loss_with_gradients_that_are_not_finite_changes_nothing(mesh_of, bad):
    variables = [keras.Variable(np.float32([1.0])), keras.Variable(np.float32([2.0]))]
    optimizer = keras.optimizers.LossScaleOptimizer(
        keras.optimizers.Adam(0.5), initial_scale=4.0, dynamic_growth_steps=2
    )

    def step(batch):
        gradients = [batch.sum(keepdims=True) * 4, jnp.ones(1)]
        optimizer.apply_gradients(zip(gradients, variables, strict=True))

    def train(values):
        (batch,) = spmd.distribute(np.float32(values), mesh_of(2), batch_size=2)
        return run(batch)

    run = spmd.Step(step, mesh_of(2))
    train([1.0, bad])  # on one replica only
    assert [float(v[0]) for v in variables] == [1.0, 2.0]
    assert float(optimizer.dynamic_scale.value) == 2.0
    assert int(optimizer.iterations.value) == 0
    train([1.0, 1.0])
    train([1.0, 1.0])
    assert [float(v[0]) for v in variables] == pytest.approx([0.0, 1.0], abs=1e-3)
    assert float(optimizer.dynamic_scale.value) == 4.0
    assert int(optimizer.iterations.value) == 2
    assert run.trace_count == 1
