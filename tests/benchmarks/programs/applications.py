"""Training steps of networks of keras.applications, on images of 224 x 224, by Model.fit."""

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.benchmarks.programs.weights import same_weights
from tests.benchmarks.turns import Ready

BATCH, STEPS = 16, 2


def mobilenet(tf: Any, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """MobileNetV2."""
    return _fit(tf, "MobileNetV2")


def resnet(tf: Any, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """ResNet50."""
    return _fit(tf, "ResNet50")


def _fit(tf: Any, network: str) -> tuple[Ready, Callable[[], None]]:
    if tf is None:
        os.environ |= {"KERAS_BACKEND": "jax", "JAX_PLATFORMS": "cpu"}
        import keras

        model = _compiled(keras, network)
    else:
        with tf.distribute.MirroredStrategy(["CPU:0"]).scope():
            model = _compiled(tf.keras, network)
    generator = np.random.default_rng(0)
    images = generator.random((BATCH * STEPS, 224, 224, 3), np.float32)
    labels = generator.integers(0, 2, BATCH * STEPS)
    first = {"x": images[:BATCH], "y": labels[:BATCH], "batch_size": BATCH, "verbose": 0}
    check = model.fit(**first, shuffle=False).history["loss"][-1]

    def turn() -> None:
        model.fit(images, labels, batch_size=BATCH, verbose=0)

    return Ready(STEPS, float(check)), turn


def _compiled(keras: Any, network: str) -> Any:
    model = getattr(keras.applications, network)(weights=None, classes=2)
    same_weights(model)
    model.compile(keras.optimizers.Adam(1e-3), keras.losses.SparseCategoricalCrossentropy())
    return model
