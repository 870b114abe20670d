"""Recommenders, of whose large tables a step looks up few rows."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.benchmarks.programs.training import Lesson, fit, labels
from tests.benchmarks.turns import Ready


def recommender(tf: Any, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """Two tables and a few layers above."""

    def build(keras: Any) -> tuple[Any, Any]:
        layers = keras.layers
        users, items = keras.Input((), dtype="int32"), keras.Input((), dtype="int32")
        tables = [layers.Embedding(500_000, 32)(ids) for ids in (users, items)]
        x = layers.Dense(128, activation="relu")(layers.Concatenate()(tables))
        x = layers.Dense(1)(layers.Dense(64, activation="relu")(x))
        return keras.Model([users, items], x), keras.losses.MeanSquaredError()

    def data(generator: np.random.Generator, rows: int) -> tuple[Any, Any]:
        ids = [labels(generator, 500_000, rows) for _ in range(2)]
        return ids, generator.random((rows, 1), np.float32)

    return fit(tf, devices, Lesson(build, data, rows=512, steps=20, optimizer=("Adagrad", 0.05)))


def adagrad(tf: Any, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """A table of a million rows, whose optimizer moves no row without a gradient."""
    return _large(tf, devices, ("Adagrad", 0.05))


def adam(tf: Any, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """A table of a million rows, all of which the optimizer moves."""
    return _large(tf, devices, ("Adam", 1e-3))


def _large(tf: Any, devices: int, optimizer: tuple[str, float]) -> Any:
    def build(keras: Any) -> tuple[Any, Any]:
        layers = keras.layers
        words = keras.Input((8,), dtype="int32")
        x = layers.GlobalAveragePooling1D()(layers.Embedding(1_000_000, 64)(words))
        x = layers.Dense(1)(layers.Dense(64, activation="relu")(x))
        return keras.Model(words, x), keras.losses.MeanSquaredError()

    def data(generator: np.random.Generator, rows: int) -> tuple[Any, Any]:
        return labels(generator, 1_000_000, rows, 8), generator.random((rows, 1), np.float32)

    return fit(tf, devices, Lesson(build, data, rows=512, steps=8, optimizer=optimizer))
