"""A network of 50 small layers on two processes: a hundred small gradients travel at every step."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.benchmarks.programs.weights import same_weights
from tests.benchmarks.turns import Ready

LAYERS, ROWS, STEPS = 50, 64, 50


def one_by_one(tf: Any, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """Each gradient travels by itself."""
    return _loop(tf, 1)  # so many bytes: no two fit


def in_packs(tf: Any, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """As is the default."""
    return _loop(tf, 0)


def _loop(tf: Any, bytes_per_pack: int) -> tuple[Ready, Callable[[], None]]:
    options = tf.distribute.experimental.CommunicationOptions(bytes_per_pack=bytes_per_pack)
    strategy = tf.distribute.MultiWorkerMirroredStrategy(communication_options=options)
    layers = [tf.keras.layers.Dense(32, activation="tanh") for _ in range(LAYERS)]
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.Input((32,)), *layers])
        optimizer = tf.keras.optimizers.Adam(1e-3)
        same_weights(model)

    def train_step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            each = tf.reduce_mean(model(x, training=True) ** 2, axis=-1)
            loss = tf.nn.compute_average_loss(each, global_batch_size=ROWS)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    @tf.function
    def train(x: Any) -> Any:
        return strategy.reduce("SUM", strategy.run(train_step, args=(x,)), axis=None)

    x = np.random.default_rng(0).normal(size=(ROWS, 32)).astype(np.float32)
    dataset = tf.data.Dataset.from_tensors(x).repeat(STEPS)
    batches = strategy.experimental_distribute_dataset(dataset)

    def turn() -> float:
        for batch in batches:
            loss = train(batch)
        return float(loss)

    return Ready(STEPS, turn()), turn
