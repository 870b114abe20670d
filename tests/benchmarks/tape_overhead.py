"""What a tape and Keras cost per step: an Adam step of an MLP, against `nnx.value_and_grad` and Optax."""

import json
import os
import sys
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

import spmd
from frontends import tf
from tests.benchmarks.timing import compare

LAYERS, WIDTH, ROWS = 8, 256, 128


def with_keras(strategy: tf.distribute.MirroredStrategy, batch: Any) -> Callable[[], Any]:
    """The step of a TensorFlow script."""
    import keras

    with strategy.scope():
        model = keras.Sequential(
            [keras.layers.Dense(WIDTH, activation="relu") for _ in range(LAYERS)]
        )
        optimizer = keras.optimizers.Adam(1e-3, epsilon=1e-8)
        model.build((None, WIDTH))
    for layer, kernel in zip(model.layers, _kernels(), strict=True):
        layer.kernel.assign(kernel)

    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.nn.compute_average_loss(_losses(model(x, training=True)))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    return _compiled(strategy, step, batch)


def with_flax(strategy: tf.distribute.MirroredStrategy, batch: Any) -> Callable[[], Any]:
    """The same step, as Flax's documentation writes it."""
    with strategy.scope():
        model = nnx.List([nnx.Linear(WIDTH, WIDTH, rngs=nnx.Rngs(0)) for _ in range(LAYERS)])
        optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)
    for layer, kernel in zip(model, _kernels(), strict=True):
        layer.kernel.set_value(jnp.asarray(kernel))

    def step(x: Any) -> Any:
        def loss_of(model: Any) -> Any:
            y = x
            for layer in model:
                y = nnx.relu(layer(y))
            return tf.nn.compute_average_loss(_losses(y))

        loss, gradients = nnx.value_and_grad(loss_of)(model)
        optimizer.update(model, gradients)
        return loss

    return _compiled(strategy, step, batch)


def _kernels() -> list[np.ndarray]:
    random = np.random.default_rng(1)
    return [
        random.normal(size=(WIDTH, WIDTH), scale=WIDTH**-0.5).astype(np.float32)
        for _ in range(LAYERS)
    ]


def _losses(y: Any) -> Any:
    return jnp.mean(y**2, axis=-1)


def _compiled(strategy: Any, step: Callable[[Any], Any], batch: Any) -> Callable[[], Any]:
    @tf.function
    def train(batch: Any) -> Any:
        return strategy.reduce("SUM", strategy.run(step, args=(batch,)), axis=None)

    return lambda: train(batch)


def main(devices: int) -> None:
    """Measures on some devices, and prints rows of the table as JSON."""
    os.environ["KERAS_BACKEND"] = "jax"
    spmd.simulate_devices(devices)
    strategy = tf.distribute.MirroredStrategy()
    x = np.random.default_rng(0).normal(size=(ROWS, WIDTH)).astype(np.float32)
    batch = next(iter(spmd.distribute(x, strategy.mesh, batch_size=ROWS)))
    programs = {
        "tape + Keras": with_keras(strategy, batch),
        "nnx.value_and_grad + Optax": with_flax(strategy, batch),
    }
    print(json.dumps(compare(programs, devices, rounds=20, steps=20)))


if __name__ == "__main__":
    main(int(sys.argv[1]))
