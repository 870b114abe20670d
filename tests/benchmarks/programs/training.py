"""Training that benchmarks of models share: the script is the same with TensorFlow's import line and with ours."""

import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.benchmarks.programs.weights import same_weights
from tests.benchmarks.turns import Ready, end_first_step


@dataclass(frozen=True)
class Lesson:
    """A model and what it learns.

    Attributes:
        build: takes Keras, of whichever kind, and returns the model and its loss.
        data: takes a generator of random numbers and a number of rows; returns inputs and labels.
        rows: in a batch, of all devices.
        steps: in a turn.
        optimizer: name and rate.
        drops: whether a training step draws random numbers, which every framework draws differently, rounds to bfloat16, or
            shows the order of sums; then losses are compared without training.
    """

    build: Callable[[Any], tuple[Any, Any]]
    data: Callable[[np.random.Generator, int], tuple[Any, Any]]
    rows: int
    steps: int
    optimizer: tuple[str, float] = ("Adam", 1e-3)
    drops: bool = False


def fit(tf: Any, devices: int, lesson: Lesson) -> tuple[Ready, Callable[[], None]]:
    """Model.fit, under MirroredStrategy on several devices; on stock Keras on JAX, if there is no front end.

    On one device there is no strategy: under it TensorFlow's steps of large tables take eight times as long and more.
    """
    if tf is None:
        os.environ |= {"KERAS_BACKEND": "jax"} | ({"JAX_PLATFORMS": "cpu"} if devices else {})
        import keras

        scope = contextlib.nullcontext()
    else:
        strategy = mirrored(tf, devices) if devices > 1 else tf.distribute.get_strategy()
        keras, scope = tf.keras, strategy.scope()
    with scope:
        model, loss = lesson.build(keras)
        same_weights(model)
        name, rate = lesson.optimizer
        model.compile(getattr(keras.optimizers, name)(rate), loss)
    x, y = lesson.data(np.random.default_rng(0), lesson.rows * lesson.steps)
    first = {"x": _rows(x, lesson.rows), "y": y[: lesson.rows], "batch_size": lesson.rows}
    model.fit(**first, verbose=0, shuffle=False)
    end_first_step()
    if lesson.drops:
        same_weights(model)
        check = model.evaluate(**first, verbose=0)
    else:
        check = model.fit(**first, verbose=0, shuffle=False).history["loss"][-1]

    def turn() -> None:
        model.fit(x, y, batch_size=lesson.rows, verbose=0)

    return Ready(lesson.steps, float(check)), turn


def mirrored(tf: Any, devices: int) -> Any:
    """The strategy on so many CPU devices; on the first GPU if it is 0."""
    return tf.distribute.MirroredStrategy([f"CPU:{i}" for i in range(devices)] or ["GPU:0"])


def labels(generator: np.random.Generator, classes: int, *shape: int) -> np.ndarray:
    """Draws labels, or words of texts."""
    return generator.integers(0, classes, shape).astype(np.int32)


def _rows(x: Any, count: int) -> Any:
    return [part[:count] for part in x] if isinstance(x, list) else x[:count]
