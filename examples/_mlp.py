"""A small network on MNIST for the two examples in plain JAX: digits, parameters, and the loss of each row."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
from _digits import load

GLOBAL_BATCH_SIZE = 80  # 6,000 digits are 75 batches, and 2, 4 or 8 devices share each evenly


def read_digits(split):
    """Reads a split: rows of 784 floats, and labels."""
    images, labels = load(split)
    return {"x": images.reshape(-1, 784).astype(np.float32) / 255, "y": labels.astype(np.int32)}


def init_params(seed=0):
    """Makes the parameters of two layers."""
    first, second = jax.random.split(jax.random.key(seed))
    return {
        "hidden": jax.random.normal(first, (784, 64)) * 0.05,
        "logits": jax.random.normal(second, (64, 10)) * 0.1,
    }


def row_losses(params, batch):
    """Computes the loss of each row; shape `(rows,)`."""
    logits = jnp.tanh(batch["x"] @ params["hidden"]) @ params["logits"]
    return optax.softmax_cross_entropy_with_integer_labels(logits, batch["y"])
