"""Networks of the size that GPUs and TPUs are bought for, in `mixed_bfloat16`: they are planned, and measured on a GPU."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.benchmarks.programs.training import Lesson, fit, labels
from tests.benchmarks.turns import Ready

PIXELS, PICTURES = 224, 64
WORDS, LENGTH, WIDTH, LAYERS, HEADS, TEXTS = 32_000, 512, 768, 12, 12, 8


def resnet_of(keras: Any) -> Any:
    """ResNet50 of pictures as bytes, of shape `(rows, 224, 224, 3)`."""
    keras.mixed_precision.set_global_policy("mixed_bfloat16")
    pictures = keras.Input((PIXELS, PIXELS, 3), dtype="uint8")
    scaled = keras.layers.Rescaling(1 / 255)(pictures)
    return keras.applications.ResNet50(weights=None, input_tensor=scaled)


def transformer_of(keras: Any) -> Any:
    """A language model of texts of shape `(rows, 512)`."""
    keras.mixed_precision.set_global_policy("mixed_bfloat16")
    layers = keras.layers
    words = keras.Input((LENGTH,), dtype="int32")
    x = layers.Embedding(WORDS, WIDTH)(words)
    for _ in range(LAYERS):
        y = layers.LayerNormalization()(x)
        attention = layers.MultiHeadAttention(HEADS, WIDTH // HEADS)
        x = x + attention(y, y, use_causal_mask=True)
        y = layers.Dense(4 * WIDTH, activation="gelu")(layers.LayerNormalization()(x))
        x = x + layers.Dense(WIDTH)(y)
    scores = layers.Dense(WORDS, activation="softmax", dtype="float32")(x)
    return keras.Model(words, scores)


def resnet(tf: Any, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """Trains ResNet50."""

    def build(keras: Any) -> tuple[Any, Any]:
        return resnet_of(keras), keras.losses.SparseCategoricalCrossentropy()

    return fit(tf, devices, Lesson(build, pictures, rows=PICTURES, steps=10, drops=True))


def transformer(tf: Any, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """Trains the language model."""

    def build(keras: Any) -> tuple[Any, Any]:
        return transformer_of(keras), keras.losses.SparseCategoricalCrossentropy()

    return fit(tf, devices, Lesson(build, texts, rows=TEXTS, steps=20, drops=True))


def pictures(generator: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Draws pictures and their classes."""
    drawn = generator.integers(0, 256, (rows, PIXELS, PIXELS, 3), np.uint8)
    return drawn, labels(generator, 1000, rows)


def texts(generator: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Draws texts, and the next word of each."""
    drawn = labels(generator, WORDS, rows, LENGTH + 1)
    return drawn[:, :-1], drawn[:, 1:]
