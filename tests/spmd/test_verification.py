"""`spmd.verify` passes a step that is right, and names what is wrong with one that is not."""

import jax.numpy as jnp
import keras
import numpy as np
import optax
import pytest
from flax import nnx

import spmd


def _batch(rows=8):
    random = np.random.default_rng(0)
    x = random.normal(size=(rows, 3)).astype(np.float32)
    return x, random.normal(size=rows).astype(np.float32)


def _step(loss_of, metric=None):
    model = nnx.Linear(3, 1, rngs=nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(0.1), wrt=nnx.Param)

    def step(batch):
        x, y = batch

        def loss(model):
            return loss_of((model(x)[:, 0] - y) ** 2, model)

        value, gradients = nnx.value_and_grad(loss)(model)
        optimizer.update(model, gradients)
        if metric is not None:
            metric(value)
        return value

    return step, model


def test_a_step_that_is_right(mesh_of):
    step, model = _step(lambda losses, model: spmd.average_loss(losses))
    before = np.asarray(model.kernel)
    found = spmd.verify(step, _batch(), mesh_of(4))
    assert found, str(found)
    assert found.rows == (8, 7, 6, 5, 4, 3, 2, 1)
    assert str(found).startswith("The step does the same on 1 device and on 4, with 8, 7,")
    np.testing.assert_array_equal(model.kernel, before)


def test_a_loss_that_is_averaged_per_replica(mesh_of):
    def local_mean(losses, model):
        valid = spmd.valid_rows()
        return jnp.where(valid, losses, 0).sum() / jnp.maximum(valid.sum(), 1)

    found = spmd.verify(_step(local_mean)[0], _batch(), mesh_of(2))
    assert not found
    assert found.differences[0].startswith(
        "With a full batch on 2 replicas, the gradients are 2 times those on one device: the loss is "
        "averaged per replica. Divide by the global batch size"
    )
    assert "7 of 8 rows" in " ".join(found.differences)


def test_a_loss_that_does_not_ask_which_rows_are_valid(mesh_of):
    step, _ = _step(lambda losses, model: losses.mean())
    found = spmd.verify(step, _batch(4), mesh_of(2))
    assert "the gradients are 2 times those on one device" in str(found)
    assert found.rows == (4, 3, 2, 1)
    assert "a partial batch (3 of 4 rows)" in " ".join(found.differences)
    right, _ = _step(lambda losses, model: losses.sum() / 4)
    assert spmd.verify(right, _batch(4), mesh_of(2)).ok
    assert spmd.verify(right, _batch(3), mesh_of(2)).rows == (3, 2, 1)


def test_a_step_that_replicas_with_other_numbers_of_rows_cannot_run(mesh_of):
    def summed(losses, model):
        return (spmd.all_reduce(losses) * 0 + losses).sum() / 4  # losses of all have one shape

    found = spmd.verify(_step(summed)[0], _batch(4), mesh_of(2))
    assert found.rows == (4, 2), "two rows are one for each replica"
    assert "Note: partial batches are refused" in str(found)


def test_replicas_with_fewer_rows_that_count_as_much(mesh_of):
    def local_mean(losses, model):
        valid = spmd.valid_rows()
        mean = jnp.where(valid, losses, 0).sum() / jnp.maximum(valid.sum(), 1)
        return mean / spmd.all_reduce(jnp.ones(()))

    found = spmd.verify(_step(local_mean)[0], _batch(), mesh_of(2))
    assert "a partial batch (7 of 8 rows)" in found.differences[0]
    assert "replicas with fewer rows count as much" in found.differences[0]


def test_a_penalty_that_every_replica_adds(mesh_of):
    def penalized(losses, model):
        return spmd.average_loss(losses) + 0.1 * (model.kernel[...] ** 2).sum()

    found = spmd.verify(_step(penalized)[0], _batch(), mesh_of(2))
    assert "If the loss holds a penalty on the weights" in found.differences[0]


def test_a_metric_that_counts_padding(mesh_of):
    total = spmd.Variable(jnp.zeros(()), kind="sum", name="rows")

    def count(value):
        total.value += 4.0  # rows of a block on two replicas, as one might think

    step, _ = _step(lambda losses, model: spmd.average_loss(losses), count)
    found = spmd.verify(step, _batch(), mesh_of(2))
    assert "the metric rows ends as 8, on one device as 4" in found.differences[0]
    assert float(total.value) == 0.0


def test_a_result_that_cannot_be_summed(mesh_of):
    def step(batch):
        return jnp.max(jnp.where(spmd.valid_rows(), batch, -jnp.inf))

    found = spmd.verify(step, np.arange(4.0, dtype=np.float32), mesh_of(2))
    assert "its sum is 4 and its mean 2" in found.differences[0]
    assert "is 3 on one device" in found.differences[0]


def test_keras_models_are_built_and_compared(mesh_of):
    from spmd.recording import Recording

    model = keras.Sequential([keras.layers.Dense(1), keras.layers.BatchNormalization()])
    optimizer = keras.optimizers.SGD(0.1)

    def step(batch):
        recording = Recording()
        with recording.recording():
            loss = spmd.average_loss(model(batch)[:, 0] ** 2)
        variables = model.trainable_variables
        sources = [variable._value for variable in variables]
        if any(source is None for source in sources):
            gradients = [jnp.zeros(variable.shape) for variable in variables]
        else:
            gradients = recording.gradient([loss], sources)
        optimizer.apply_gradients(zip(gradients, variables, strict=True))
        return loss

    found = spmd.verify(step, _batch()[0], mesh_of(2))
    assert found, str(found)
    assert "batch statistics are each replica's own" in str(found)


def test_a_distributed_batch(mesh_of):
    step, _ = _step(lambda losses, model: spmd.average_loss(losses))
    (batch,) = spmd.distribute(_batch(3), mesh_of(2), batch_size=4)
    assert spmd.verify(step, batch, mesh_of(2)).rows == (3, 2, 1)


def test_a_batch_without_rows(mesh_of):
    for batch in (np.float32(1.0), np.zeros((0, 2), np.float32), ()):
        with pytest.raises(spmd.errors.BatchError, match="needs one batch with rows"):
            spmd.verify(lambda batch: batch, batch, mesh_of(2))


def test_one_device_has_nothing_to_be_compared_with(mesh_of):
    with pytest.raises(spmd.errors.MeshError, match="compares one device with several"):
        spmd.verify(lambda batch: batch.sum(), np.ones(4), mesh_of(1))
