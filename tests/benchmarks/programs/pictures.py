"""Convolutional networks: for segmentation, of pictures changed at random, and two of keras.applications."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.benchmarks.programs.training import Lesson, fit, labels
from tests.benchmarks.turns import Ready

PIXELS, CLASSES = 64, 10
FLOWERS = 180


def unet(tf: Any, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """Gives every pixel a class."""

    def build(keras: Any) -> tuple[Any, Any]:
        layers = keras.layers

        def block(x: Any, filters: int) -> Any:
            for _ in range(2):
                x = layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
                x = layers.Activation("relu")(layers.BatchNormalization()(x))
            return x

        pictures = x = keras.Input((PIXELS, PIXELS, 3))
        sides = []
        for filters in (16, 32, 64):
            sides.append(block(x, filters))
            x = layers.MaxPooling2D()(sides[-1])
        x = block(x, 128)
        for filters, side in zip((64, 32, 16), reversed(sides), strict=True):
            x = layers.Conv2DTranspose(filters, 2, strides=2)(x)
            x = block(layers.Concatenate()([x, side]), filters)
        model = keras.Model(pictures, layers.Conv2D(3, 1)(x))
        return model, keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def data(generator: np.random.Generator, rows: int) -> tuple[Any, Any]:
        pictures = generator.random((rows, PIXELS, PIXELS, 3), np.float32)
        return pictures, labels(generator, 3, rows, PIXELS, PIXELS)

    return fit(tf, devices, Lesson(build, data, rows=8, steps=6))


def efficientnet(tf: Any, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """EfficientNetB0, on pictures of 128 x 128."""
    return _application(tf, devices, "EfficientNetB0", 128, drops=True)


def densenet(tf: Any, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """DenseNet121, on pictures of 96 x 96.

    TensorFlow's own losses after a step differ by 3e-3 with and without oneDNN.
    """
    return _application(tf, devices, "DenseNet121", 96, drops=True)


def augmented(tf: Any, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """Turns, flips and enlarges pictures at random before three convolutions, after a tutorial of TensorFlow's."""

    def build(keras: Any) -> tuple[Any, Any]:
        layers = keras.layers
        changes = [
            layers.RandomFlip("horizontal"),
            layers.RandomRotation(0.1),
            layers.RandomZoom(0.1),
            layers.Rescaling(1 / 255),
        ]
        convolutions = [
            layer
            for filters in (16, 32, 64)
            for layer in (
                layers.Conv2D(filters, 3, padding="same", activation="relu"),
                layers.MaxPooling2D(),
            )
        ]
        end = [layers.Flatten(), layers.Dense(128, activation="relu"), layers.Dense(CLASSES)]
        model = keras.Sequential(
            [keras.Input((FLOWERS, FLOWERS, 3)), *changes, *convolutions, *end]
        )
        return model, keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def data(generator: np.random.Generator, rows: int) -> tuple[Any, Any]:
        pictures = 255 * generator.random((rows, FLOWERS, FLOWERS, 3), np.float32)
        return pictures, labels(generator, CLASSES, rows)

    return fit(tf, devices, Lesson(build, data, rows=32, steps=3, drops=True))


def _application(tf: Any, devices: int, name: str, pixels: int, *, drops: bool = False) -> Any:
    def build(keras: Any) -> tuple[Any, Any]:
        network = getattr(keras.applications, name)
        model = network(weights=None, input_shape=(pixels, pixels, 3), classes=CLASSES)
        return model, keras.losses.SparseCategoricalCrossentropy()

    def data(generator: np.random.Generator, rows: int) -> tuple[Any, Any]:
        pictures = generator.random((rows, pixels, pixels, 3), np.float32)
        return pictures, labels(generator, CLASSES, rows)

    return fit(tf, devices, Lesson(build, data, rows=8, steps=3, drops=drops))
