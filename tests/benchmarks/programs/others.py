"""Models of the kinds that the engine was made fast for, which nobody looked at while it was."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.benchmarks.programs.training import Lesson, fit, labels
from tests.benchmarks.turns import Ready

WORDS, LENGTH, WIDTH, HEADS, LAYERS = 3000, 48, 128, 4, 2
LETTERS, LETTERS_LENGTH = 80, 60
CHANNELS, MOMENTS, CLASSES = 6, 256, 5
PIXELS = 96
MIXED, PATCH = 64, 8


def translator(tf: Any, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """An encoder, and a decoder that attends to it; both normalize last."""

    def build(keras: Any) -> tuple[Any, Any]:
        layers = keras.layers

        def attend(x: Any, y: Any, **options: Any) -> Any:
            found = layers.MultiHeadAttention(HEADS, WIDTH // HEADS)(x, y, **options)
            return layers.LayerNormalization()(layers.Add()([x, found]))

        def widen(x: Any) -> Any:
            y = layers.Dense(WIDTH)(layers.Dense(4 * WIDTH, activation="relu")(x))
            return layers.LayerNormalization()(layers.Add()([x, y]))

        source, target = (keras.Input((LENGTH,), dtype="int32") for _ in range(2))
        x = layers.Embedding(WORDS, WIDTH)(source)
        for _ in range(LAYERS):
            x = widen(attend(x, x))
        y = layers.Embedding(WORDS, WIDTH)(target)
        for _ in range(LAYERS):
            y = widen(attend(attend(y, y, use_causal_mask=True), x))
        model = keras.Model([source, target], layers.Dense(WORDS)(y))
        return model, keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def data(generator: np.random.Generator, rows: int) -> tuple[Any, Any]:
        texts = labels(generator, WORDS, rows, LENGTH + 1)
        return [labels(generator, WORDS, rows, LENGTH), texts[:, :-1]], texts[:, 1:]

    return fit(tf, devices, Lesson(build, data, rows=16, steps=8))


def letters(tf: Any, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """Predicts each next letter of a text, with two LSTM layers."""

    def build(keras: Any) -> tuple[Any, Any]:
        layers = keras.layers
        inner = [layers.LSTM(128, return_sequences=True) for _ in range(2)]
        model = keras.Sequential(
            [
                keras.Input((LETTERS_LENGTH,), dtype="int32"),
                layers.Embedding(LETTERS, 64),
                *inner,
                layers.Dense(LETTERS),
            ]
        )
        return model, keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def data(generator: np.random.Generator, rows: int) -> tuple[Any, Any]:
        texts = labels(generator, LETTERS, rows, LETTERS_LENGTH + 1)
        return texts[:, :-1], texts[:, 1:]

    return fit(tf, devices, Lesson(build, data, rows=32, steps=8, optimizer=("RMSprop", 1e-3)))


def signals(tf: Any, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """Classifies signals of several channels, by residual convolutions over time."""

    def build(keras: Any) -> tuple[Any, Any]:
        layers = keras.layers
        inputs = keras.Input((MOMENTS, CHANNELS))
        x = layers.Conv1D(32, 7, padding="same", activation="relu")(inputs)
        for filters in (32, 64):
            y = layers.Conv1D(filters, 5, padding="same", use_bias=False)(x)
            y = layers.ReLU()(layers.BatchNormalization()(y))
            y = layers.Conv1D(filters, 5, padding="same")(y)
            x = layers.Add()([layers.Conv1D(filters, 1)(x), y])
            x = layers.MaxPooling1D()(layers.ReLU()(x))
        model = keras.Model(inputs, layers.Dense(CLASSES)(layers.GlobalAveragePooling1D()(x)))
        return model, keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def data(generator: np.random.Generator, rows: int) -> tuple[Any, Any]:
        drawn = generator.standard_normal((rows, MOMENTS, CHANNELS), np.float32)
        return drawn, labels(generator, CLASSES, rows)

    return fit(tf, devices, Lesson(build, data, rows=32, steps=12))


def mobilenet_v3(tf: Any, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """MobileNetV3Small."""

    def build(keras: Any) -> tuple[Any, Any]:
        network = keras.applications.MobileNetV3Small
        shape = (PIXELS, PIXELS, 3)
        model = network(shape, weights=None, classes=CLASSES, dropout_rate=0)
        return model, keras.losses.SparseCategoricalCrossentropy()

    def data(generator: np.random.Generator, rows: int) -> tuple[Any, Any]:
        pictures = 255 * generator.random((rows, PIXELS, PIXELS, 3), np.float32)
        return pictures, labels(generator, CLASSES, rows)

    return fit(tf, devices, Lesson(build, data, rows=16, steps=4))


def mixer(tf: Any, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """Classifies pictures by dense layers over patches, and over their features."""

    def build(keras: Any) -> tuple[Any, Any]:
        layers = keras.layers

        def widen(x: Any, width: int) -> Any:
            return layers.Dense(width)(layers.Dense(4 * width, activation="gelu")(x))

        patches = (MIXED // PATCH) ** 2
        pictures = keras.Input((MIXED, MIXED, 3))
        x = layers.Reshape((patches, WIDTH))(layers.Conv2D(WIDTH, PATCH, PATCH)(pictures))
        for _ in range(4):
            y = widen(layers.Permute((2, 1))(layers.LayerNormalization()(x)), patches)
            x = layers.Add()([x, layers.Permute((2, 1))(y)])
            x = layers.Add()([x, widen(layers.LayerNormalization()(x), WIDTH)])
        model = keras.Model(pictures, layers.Dense(CLASSES)(layers.GlobalAveragePooling1D()(x)))
        return model, keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def data(generator: np.random.Generator, rows: int) -> tuple[Any, Any]:
        pictures = generator.random((rows, MIXED, MIXED, 3), np.float32)
        return pictures, labels(generator, CLASSES, rows)

    return fit(tf, devices, Lesson(build, data, rows=16, steps=8))
