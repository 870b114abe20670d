"""Transformers: a language model, an encoder of texts of different lengths, one of pictures, and one of series."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.benchmarks.programs.training import Lesson, fit, labels
from tests.benchmarks.turns import Ready

LAYERS, DEEP, HEADS, DROPOUT = 4, 12, 4, 0.1
GPT_WORDS, GPT_LENGTH = 5000, 128
BERT_WORDS, BERT_LENGTH = 8000, 64
PIXELS, PATCH, CLASSES = 64, 8, 10
HOURS, AHEAD, SENSORS = 168, 24, 7


def gpt(tf: Any, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """Predicts each next word of a text."""
    return _gpt(tf, devices, LAYERS)


def gpt_deep(tf: Any, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """The same, with more layers."""
    return _gpt(tf, devices, DEEP)


def bert(tf: Any, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """Classifies texts, whose padding is masked."""

    def build(keras: Any) -> tuple[Any, Any]:
        words = keras.Input((BERT_LENGTH,), dtype="int32")
        x = _positions(keras)(keras.layers.Embedding(BERT_WORDS, 256, mask_zero=True)(words))
        x = _blocks(keras, x, 256)
        model = keras.Model(words, keras.layers.Dense(2)(keras.layers.GlobalAveragePooling1D()(x)))
        return model, keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def data(generator: np.random.Generator, rows: int) -> tuple[Any, Any]:
        texts = 1 + labels(generator, BERT_WORDS - 1, rows, BERT_LENGTH)
        lengths = generator.integers(BERT_LENGTH // 4, BERT_LENGTH + 1, rows)
        texts[np.arange(BERT_LENGTH) >= lengths[:, None]] = 0
        return texts, labels(generator, 2, rows)

    return fit(tf, devices, Lesson(build, data, rows=16, steps=4, drops=True))


def vit(tf: Any, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """Classifies pictures, of which it sees patches."""

    def build(keras: Any) -> tuple[Any, Any]:
        pictures = keras.Input((PIXELS, PIXELS, 3))
        x = keras.layers.Conv2D(128, PATCH, strides=PATCH)(pictures)
        x = keras.layers.Reshape(((PIXELS // PATCH) ** 2, 128))(x)
        x = _blocks(keras, _positions(keras)(x), 128)
        model = keras.Model(
            pictures, keras.layers.Dense(CLASSES)(keras.layers.GlobalAveragePooling1D()(x))
        )
        return model, keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def data(generator: np.random.Generator, rows: int) -> tuple[Any, Any]:
        pictures = generator.random((rows, PIXELS, PIXELS, 3), np.float32)
        return pictures, labels(generator, CLASSES, rows)

    return fit(tf, devices, Lesson(build, data, rows=32, steps=4, drops=True))


def series(tf: Any, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """Forecasts a day from a week of hours, by attention with wide heads."""

    def build(keras: Any) -> tuple[Any, Any]:
        layers = keras.layers
        inputs = x = keras.Input((HOURS, SENSORS))
        for _ in range(3):
            y = layers.MultiHeadAttention(4, 64, dropout=0.1)(x, x)
            x = layers.LayerNormalization(epsilon=1e-6)(layers.Add()([x, y]))
            y = layers.Conv1D(SENSORS, 1)(layers.Conv1D(32, 1, activation="relu")(x))
            x = layers.LayerNormalization(epsilon=1e-6)(layers.Add()([x, y]))
        x = layers.GlobalAveragePooling1D(data_format="channels_first")(x)
        model = keras.Model(inputs, layers.Dense(AHEAD)(layers.Dense(128, activation="relu")(x)))
        return model, keras.losses.Huber()

    def data(generator: np.random.Generator, rows: int) -> tuple[Any, Any]:
        drawn = generator.random((rows, HOURS, SENSORS), np.float32)
        return drawn, generator.random((rows, AHEAD), np.float32)

    return fit(tf, devices, Lesson(build, data, rows=32, steps=4, drops=True))


def _gpt(tf: Any, devices: int, depth: int) -> tuple[Ready, Callable[[], None]]:
    def build(keras: Any) -> tuple[Any, Any]:
        words = keras.Input((GPT_LENGTH,), dtype="int32")
        x = _positions(keras)(keras.layers.Embedding(GPT_WORDS, 256)(words))
        x = _blocks(keras, x, 256, depth=depth, causal=True)
        model = keras.Model(words, keras.layers.Dense(GPT_WORDS)(x))
        return model, keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def data(generator: np.random.Generator, rows: int) -> tuple[Any, Any]:
        texts = labels(generator, GPT_WORDS, rows, GPT_LENGTH + 1)
        return texts[:, :-1], texts[:, 1:]

    return fit(tf, devices, Lesson(build, data, rows=8, steps=4, drops=True))


def _blocks(keras: Any, x: Any, width: int, *, depth: int = LAYERS, causal: bool = False) -> Any:
    """Layers of a transformer that normalize first."""
    layers = keras.layers
    arguments = {"use_causal_mask": True} if causal else {}
    for _ in range(depth):
        y = layers.LayerNormalization(epsilon=1e-5)(x)
        attention = layers.MultiHeadAttention(HEADS, width // HEADS, dropout=DROPOUT)
        x = layers.Add()([x, layers.Dropout(DROPOUT)(attention(y, y, **arguments))])
        y = layers.LayerNormalization(epsilon=1e-5)(x)
        y = layers.Dense(width)(layers.Dense(4 * width, activation="gelu")(y))
        x = layers.Add()([x, layers.Dropout(DROPOUT)(y)])
    return layers.LayerNormalization(epsilon=1e-5)(x)


def _positions(keras: Any) -> Any:
    """A layer that adds a learned vector for each position."""

    class Positions(keras.layers.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.supports_masking = True

        def build(self, input_shape: Any) -> None:
            shape = tuple(input_shape[1:])
            self.table = self.add_weight(name="table", shape=shape, initializer="uniform")
            super().build(input_shape)

        def call(self, x: Any) -> Any:
            return x + self.table

    return Positions()
