"""What these tests share: a small classifier trained by the engine's own loop, with gradients as a tape takes them."""

import jax.numpy as jnp
import keras
import numpy as np

import spmd
from spmd.recording import Recording

ROWS, BATCH = 14, 8  # the last batch has 6 rows: 2, 2, 2 and none on four replicas


def make_data():
    random = np.random.default_rng(0)
    return random.normal(size=(ROWS, 5)).astype(np.float32), random.integers(0, 3, ROWS)


def gradients_of(loss_of, model):
    """What a tape does."""
    recording = Recording()
    with recording.recording():
        loss = loss_of()
    sources = [variable._value for variable in model.trainable_variables]
    gradients = recording.gradient([loss], sources)
    if any(source is None for source in sources):  # the run that makes variables
        gradients = [jnp.zeros(v.shape, v.dtype) for v in model.trainable_variables]
    return loss, gradients


def make_model(*layers):
    keras.utils.set_random_seed(0)
    return keras.Sequential(
        [keras.layers.Dense(8, activation="relu"), *layers, keras.layers.Dense(3)]
    )


def trained(mesh, model, optimizer, epochs=2, metric=None, **options):
    per_row = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")

    def step(batch):
        x, y = batch

        def loss_of():
            predictions = model(x, training=True)
            if metric is not None:
                metric.update_state(y, predictions)
            return (
                spmd.average_loss(per_row(y, predictions)) + sum(model.losses) / mesh.devices.size
            )

        loss, gradients = gradients_of(loss_of, model)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True), **options)
        return spmd.all_reduce(loss)

    train = spmd.Step(step, mesh)
    losses = [
        float(train(batch))
        for _ in range(epochs)
        for batch in spmd.distribute(make_data(), mesh, batch_size=BATCH)
    ]
    assert train.trace_count == 1
    return losses, [np.asarray(weight) for weight in model.weights]
