"""Recurrent networks: a classifier of texts, a tagger of words, and one that predicts the next frame of a film."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.benchmarks.programs.training import Lesson, fit, labels
from tests.benchmarks.turns import Ready

WORDS, TAGS = 20_000, 20
LENGTH, TAGGED_LENGTH = 100, 50
FRAMES, SIDE, FILTERS = 10, 32, 16


def lstm(tf: Any, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """Classifies texts, whose padding is masked."""

    def build(keras: Any) -> tuple[Any, Any]:
        layers = keras.layers
        model = keras.Sequential(
            [
                keras.Input((LENGTH,), dtype="int32"),
                layers.Embedding(WORDS, 64, mask_zero=True),
                layers.Bidirectional(layers.LSTM(64)),
                layers.Dense(64, activation="relu"),
                layers.Dense(1),
            ]
        )
        return model, keras.losses.BinaryCrossentropy(from_logits=True)

    def data(generator: np.random.Generator, rows: int) -> tuple[Any, Any]:
        return _texts(generator, rows, LENGTH), labels(generator, 2, rows, 1)

    return fit(tf, devices, Lesson(build, data, rows=32, steps=12))


def gru(tf: Any, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """Gives every word of a text a tag."""

    def build(keras: Any) -> tuple[Any, Any]:
        layers = keras.layers
        model = keras.Sequential(
            [
                keras.Input((TAGGED_LENGTH,), dtype="int32"),
                layers.Embedding(WORDS, 64),
                layers.Bidirectional(layers.GRU(64, return_sequences=True)),
                layers.Dense(TAGS),
            ]
        )
        return model, keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def data(generator: np.random.Generator, rows: int) -> tuple[Any, Any]:
        texts = _texts(generator, rows, TAGGED_LENGTH)
        return texts, labels(generator, TAGS, rows, TAGGED_LENGTH)

    return fit(tf, devices, Lesson(build, data, rows=32, steps=16))


def _texts(generator: np.random.Generator, rows: int, length: int) -> np.ndarray:
    texts = 1 + labels(generator, WORDS - 1, rows, length)
    lengths = generator.integers(length // 4, length + 1, rows)
    texts[np.arange(length) >= lengths[:, None]] = 0
    return texts


def movies(tf: Any, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """Predicts the next frame of a film, with two ConvLSTM2D layers."""

    def build(keras: Any) -> tuple[Any, Any]:
        layers = keras.layers
        # Keras 2 would take `hard_sigmoid`.
        options = {"padding": "same", "recurrent_activation": "sigmoid"}
        model = keras.Sequential(
            [
                keras.Input((FRAMES, SIDE, SIDE, 1)),
                layers.ConvLSTM2D(FILTERS, 3, return_sequences=True, **options),
                layers.BatchNormalization(),
                layers.ConvLSTM2D(FILTERS, 3, **options),
                layers.Conv2D(1, 3, padding="same"),
            ]
        )
        return model, keras.losses.MeanSquaredError()

    def data(generator: np.random.Generator, rows: int) -> tuple[Any, Any]:
        drawn = generator.random((rows, FRAMES + 1, SIDE, SIDE, 1), np.float32)
        return drawn[:, :-1], drawn[:, -1]

    return fit(tf, devices, Lesson(build, data, rows=8, steps=4))
