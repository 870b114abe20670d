"""Input alone: digits are scaled, shuffled, batched, and put on a device."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.benchmarks.programs import digits
from tests.benchmarks.turns import Ready

BATCH, STEPS = 128, 200


def mnist(tf: Any, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """The pipeline of TensorFlow's tutorial."""
    strategy = tf.distribute.MirroredStrategy(["CPU:0"])
    images, labels = digits.load(path, BATCH * STEPS)

    def scale(image: Any, label: Any) -> tuple[Any, Any]:
        return tf.cast(image, tf.float32) / 255, label

    dataset = tf.data.Dataset.from_tensor_slices((images, labels))
    dataset = dataset.map(scale, num_parallel_calls=tf.data.AUTOTUNE).shuffle(10_000)
    batches = strategy.experimental_distribute_dataset(
        dataset.batch(BATCH).prefetch(tf.data.AUTOTUNE)
    )

    def turn() -> None:
        for image, _ in batches:
            last = image
        np.asarray(strategy.experimental_local_results(last)[0])

    turn()
    total = 0.0
    for image, _ in batches:
        total += float(np.sum(strategy.experimental_local_results(image)[0]))
    return Ready(STEPS, total), turn
