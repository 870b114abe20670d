"""The multilayer perceptron 784-256-128-10, 64 rows a replica, in a custom loop."""

from collections.abc import Callable
from typing import Any

from tests.benchmarks.programs import digits, mnist
from tests.benchmarks.turns import Ready

ROWS = 64


def loop(tf: Any, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """As TensorFlow's users write it."""
    strategy = tf.distribute.MirroredStrategy([f"CPU:{i}" for i in range(devices)])
    images, labels = digits.scaled(path, ROWS * devices * mnist.STEPS)
    images = images.reshape(-1, 784)
    layers = [
        tf.keras.layers.Dense(256, activation="relu"),
        tf.keras.layers.Dense(128, activation="relu"),
        tf.keras.layers.Dense(10, activation="softmax"),
    ]
    dataset = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(10_000)
    return mnist.custom_loop(tf, strategy, dataset.batch(ROWS * devices), layers, images, labels)
