"""Initial weights that are the same in every framework."""

from typing import Any

import numpy as np


def same_weights(model: Any) -> None:
    """Gives a Keras model, of whichever Keras, weights that depend on their shapes only."""
    generator = np.random.default_rng(0)
    for layer in model.layers:
        if type(layer).__name__ == "Normalization":
            continue  # of what the pictures of a data set are like
        values = [initial(generator, np.shape(value)) for value in layer.get_weights()]
        if len(values) == 4 and all(value.ndim == 1 for value in values):
            scale, offset, mean, variance = map(np.zeros_like, values)  # of BatchNormalization
            values = [scale + 1, offset, mean, variance + 1]
        if type(layer).__name__ == "LayerNormalization":
            values[0] += 1
        layer.set_weights(values)


def initial(generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    if len(shape) < 2:
        return np.zeros(shape, np.float32)
    fan_in = int(np.prod(shape[:-1]))
    return generator.standard_normal(shape, np.float32) * np.float32(fan_in**-0.5)
