"""A generator of pictures and a network that judges them, each with an optimizer of its own (DCGAN)."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.benchmarks.programs import digits
from tests.benchmarks.programs.training import mirrored
from tests.benchmarks.programs.weights import same_weights
from tests.benchmarks.turns import Ready, end_first_step

BATCH, STEPS, NOISE = 64, 6, 100


def dcgan(tf: Any, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """A custom loop under MirroredStrategy, after TensorFlow's tutorial."""
    layers, strategy = tf.keras.layers, mirrored(tf, devices)
    with strategy.scope():
        generator = tf.keras.Sequential(
            [
                tf.keras.Input((NOISE,)),
                layers.Dense(7 * 7 * 128, use_bias=False),
                layers.BatchNormalization(),
                layers.LeakyReLU(0.2),
                layers.Reshape((7, 7, 128)),
                layers.Conv2DTranspose(64, 5, strides=2, padding="same", use_bias=False),
                layers.BatchNormalization(),
                layers.LeakyReLU(0.2),
                layers.Conv2DTranspose(1, 5, strides=2, padding="same", activation="tanh"),
            ]
        )
        judge = tf.keras.Sequential(
            [
                tf.keras.Input((28, 28, 1)),
                layers.Conv2D(64, 5, strides=2, padding="same"),
                layers.LeakyReLU(0.2),
                layers.Conv2D(128, 5, strides=2, padding="same"),
                layers.LeakyReLU(0.2),
                layers.Flatten(),
                layers.Dense(1),
            ]
        )
        optimizers = tf.keras.optimizers.Adam(1e-4), tf.keras.optimizers.Adam(1e-4)
        losses = tf.keras.losses.BinaryCrossentropy(from_logits=True, reduction="none")
        same_weights(generator)
        same_weights(judge)

    def train_step(inputs: Any) -> Any:
        pictures, noise = inputs
        with tf.GradientTape() as of_generator, tf.GradientTape() as of_judge:
            made = judge(generator(noise, training=True), training=True)
            real = judge(pictures, training=True)
            ones, zeros = tf.ones_like(real), tf.zeros_like(made)
            fooled = tf.nn.compute_average_loss(losses(ones, made), global_batch_size=BATCH)
            each = losses(ones, real) + losses(zeros, made)
            judged = tf.nn.compute_average_loss(each, global_batch_size=BATCH)
        tapes, models = (of_generator, of_judge), (generator, judge)
        for tape, loss, model, optimizer in zip(
            tapes, (fooled, judged), models, optimizers, strict=True
        ):
            weights = model.trainable_variables
            optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        return fooled + judged

    @tf.function
    def train(inputs: Any) -> Any:
        return strategy.reduce("SUM", strategy.run(train_step, args=(inputs,)), axis=None)

    images, _ = digits.scaled(path, BATCH * STEPS)
    noise = np.random.default_rng(0).normal(size=(BATCH * STEPS, NOISE)).astype(np.float32)
    dataset = tf.data.Dataset.from_tensor_slices((images * 2 - 1, noise)).batch(BATCH)
    batches = strategy.experimental_distribute_dataset(dataset)
    first = next(iter(batches))
    float(train(first))
    end_first_step()
    check = float(train(first))

    def turn() -> None:
        for batch in batches:
            loss = train(batch)
        float(loss)

    return Ready(STEPS, check), turn
