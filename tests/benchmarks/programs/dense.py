"""Networks of dense layers: an autoencoder, and gradients that several batches add to."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.benchmarks.programs import digits
from tests.benchmarks.programs.training import Lesson, fit, mirrored
from tests.benchmarks.programs.weights import same_weights
from tests.benchmarks.turns import Ready, end_first_step

BATCH, STEPS, PARTS = 32, 40, 4


def autoencoder(tf: Any, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """Learns to give back the digits that it is given."""

    def build(keras: Any) -> tuple[Any, Any]:
        inner = [keras.layers.Dense(width, activation="relu") for width in (256, 64, 256)]
        last = keras.layers.Dense(784, activation="sigmoid")
        model = keras.Sequential([keras.Input((784,)), *inner, last])
        return model, keras.losses.MeanSquaredError()

    def data(generator: np.random.Generator, rows: int) -> tuple[Any, Any]:
        images = digits.scaled(path, rows)[0].reshape(rows, 784)
        return images, images

    return fit(tf, devices, Lesson(build, data, rows=128, steps=60))


def accumulation(tf: Any, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """A custom loop whose optimizer moves the weights after every fourth batch."""
    strategy = mirrored(tf, devices)
    with strategy.scope():
        inner = [tf.keras.layers.Dense(256, activation="relu") for _ in range(2)]
        model = tf.keras.Sequential([tf.keras.Input((784,)), *inner, tf.keras.layers.Dense(10)])
        optimizer = tf.keras.optimizers.Adam(1e-3)
        losses = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")
        same_weights(model)
        sums = [
            tf.Variable(
                tf.zeros(weight.shape),
                trainable=False,
                synchronization=tf.VariableSynchronization.ON_READ,
                aggregation=tf.VariableAggregation.SUM,
            )
            for weight in model.trainable_variables
        ]

    def add(inputs: Any) -> Any:
        x, y = inputs
        with tf.GradientTape() as tape:
            each = losses(y, model(x, training=True))
            loss = tf.nn.compute_average_loss(each, global_batch_size=BATCH * PARTS)
        gradients = tape.gradient(loss, model.trainable_variables)
        for one, gradient in zip(sums, gradients, strict=True):
            one.assign_add(gradient)
        return loss

    def move() -> None:
        gradients = [tf.convert_to_tensor(one) for one in sums]
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        for one in sums:
            one.assign(tf.zeros(one.shape))

    @tf.function
    def accumulate(inputs: Any) -> Any:
        return strategy.reduce("SUM", strategy.run(add, args=(inputs,)), axis=None)

    @tf.function
    def apply() -> None:
        strategy.run(move)

    def train(inputs: Any, number: int) -> Any:
        loss = accumulate(inputs)
        if number % PARTS == PARTS - 1:
            apply()
        return loss

    images, labels = digits.scaled(path, BATCH * STEPS)
    pixels = images.reshape(len(images), 784)
    dataset = tf.data.Dataset.from_tensor_slices((pixels, labels)).batch(BATCH)
    batches = strategy.experimental_distribute_dataset(dataset)
    first = next(iter(batches))
    for number in range(PARTS):
        check = float(train(first, number))
    end_first_step()
    check = float(train(first, 0))

    def turn() -> None:
        for number, batch in enumerate(batches):
            loss = train(batch, number)
        float(loss)

    return Ready(STEPS, check), turn
