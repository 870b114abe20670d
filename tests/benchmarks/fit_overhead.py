"""What Keras's `fit` costs per step: on the engine, against the engine's own loop and Keras alone.

An MLP 784-256-128-10 and 64 rows a replica. Keras alone runs on several devices with its own
`keras.distribution.DataParallel`. The last row is what no loop can go below: the training step by hand,
compiled, on one batch that is on the devices already.
"""

import json
import os
import random
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import spmd
from tests.benchmarks.timing import rows_of

STEPS, ROUNDS, ROWS = 60, 9, 64


def model_of(keras: Any) -> Any:
    """The model, compiled; the same weights every time."""
    keras.utils.set_random_seed(0)
    layers = [keras.layers.Dense(size, activation="relu") for size in (256, 128)]
    model = keras.Sequential([*layers, keras.layers.Dense(10)])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(1e-3), loss, metrics=["accuracy"])
    model.build((None, 784))
    return model


def fit(model: Any, x: Any, y: Any, rows: int) -> Callable[[], Any]:
    """An epoch of fit."""

    def epoch() -> float:
        return model.fit(x, y, batch_size=rows, shuffle=False, verbose=0).history["loss"][0]

    return epoch


def own_loop(keras: Any, mesh: Any, x: Any, y: Any, rows: int) -> Callable[[], Any]:
    """The same epoch, written by hand for the engine."""
    import jax

    model = model_of(keras)
    losses = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")
    mean, accuracy = keras.metrics.Mean(), keras.metrics.SparseCategoricalAccuracy()
    model.optimizer.build(model.trainable_variables)

    def step(batch: Any) -> None:
        x, y = batch

        def loss_of(values: Any) -> Any:
            logits, _ = model.stateless_call(values, [], x, training=True)
            each = losses(y, logits)
            return spmd.average_loss(each), (each, logits)

        values = [variable.value for variable in model.trainable_variables]
        (_, (each, logits)), gradients = jax.value_and_grad(loss_of, has_aux=True)(values)
        model.optimizer.apply(gradients, model.trainable_variables)
        mean.update_state(each)
        accuracy.update_state(y, logits)

    train = spmd.Step(step, mesh)
    batches = spmd.distribute((x, y), mesh, batch_size=rows, prefetch=0)

    def epoch() -> float:
        mean.reset_state()
        accuracy.reset_state()
        for batch in batches:
            train(batch)
        accuracy.result()
        return float(mean.result())

    return epoch


def by_hand(keras: Any, mesh: Any, x: Any, y: Any) -> Callable[[], Any]:
    """As many training steps on one batch, without metrics, callbacks or input."""
    import jax
    from jax.sharding import NamedSharding, PartitionSpec

    model = model_of(keras)
    optimizer, tracked = model.optimizer, model.trainable_variables
    optimizer.build(tracked)
    losses = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    each, whole = PartitionSpec("replica"), PartitionSpec()

    def step(state: Any, x: Any, y: Any) -> Any:
        values, slots = state

        def loss_of(values: Any) -> Any:
            logits, _ = model.stateless_call(values, [], x, training=True)
            return losses(y, logits) / len(mesh.devices)

        loss, gradients = jax.lax.psum(jax.value_and_grad(loss_of)(values), "replica")
        return optimizer.stateless_apply(slots, gradients, values), loss

    compiled = jax.jit(
        jax.shard_map(
            step, mesh=mesh, in_specs=(whole, each, each), out_specs=whole, check_vma=False
        ),
        donate_argnums=0,
    )
    state = [[v.value for v in tracked], [v.value for v in optimizer.variables]]
    held = [jax.device_put(jax.tree.map(jax.numpy.copy, state), NamedSharding(mesh, whole))]
    batch = jax.device_put((x, y.astype(np.int32)), NamedSharding(mesh, each))

    def epoch() -> float:
        for _ in range(STEPS):
            held[0], loss = compiled(held[0], *batch)
        return float(loss)

    return epoch


def main(devices: int) -> None:
    """Measures on some devices, and prints rows of the table as JSON."""
    os.environ["KERAS_BACKEND"] = "jax"
    spmd.simulate_devices(devices)
    import keras

    from spmd.integrations.keras import distribute_model

    rows = ROWS * devices
    generator = np.random.default_rng(0)
    x = generator.normal(size=(rows * STEPS, 784)).astype(np.float32)
    y = generator.integers(0, 10, rows * STEPS)
    mesh = spmd.make_mesh()
    if devices > 1:
        keras.distribution.set_distribution(keras.distribution.DataParallel())
    alone = fit(model_of(keras), x, y, rows)
    expected = alone()
    keras.distribution.set_distribution(None)
    placed = fit(distribute_model(model_of(keras), mesh), x, y, rows)
    loop = own_loop(keras, mesh, x, y, rows)
    programs = {
        "fit on the engine": placed,
        "the engine's own loop": loop,
        "fit of Keras alone": alone,
        "the compiled step alone": by_hand(keras, mesh, x[:rows], y[:rows]),
    }
    for name in list(programs)[:2]:
        assert np.isclose(programs[name](), expected, rtol=1e-4), name
    times: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(ROUNDS):
        for name in random.sample(list(programs), len(programs)):
            if name == "fit of Keras alone" and devices > 1:
                keras.distribution.set_distribution(keras.distribution.DataParallel())
            start = time.perf_counter()
            programs[name]()
            times[name].append((time.perf_counter() - start) / STEPS * 1e6)
            keras.distribution.set_distribution(None)
    print(json.dumps(rows_of(times, devices, "microseconds a step")))


if __name__ == "__main__":
    main(int(sys.argv[1]))
