"""A training script for `jaxtribute plan`: as many rows for each device, on however many there are.

python tests/benchmarks/programs/planned.py resnet
"""

import sys
from typing import Any

import numpy as np

from frontends import tf

PIXELS = 224
WORDS, LENGTH, WIDTH, LAYERS, HEADS = 32_000, 512, 768, 12, 12


def _resnet() -> tuple[Any, int, np.ndarray, np.ndarray]:
    pictures = tf.keras.Input((PIXELS, PIXELS, 3), dtype="uint8")
    scaled = tf.keras.layers.Rescaling(1 / 255)(pictures)
    model = tf.keras.Model(pictures, tf.keras.applications.ResNet50(weights=None)(scaled))
    return model, 64, np.zeros((PIXELS, PIXELS, 3), np.uint8), np.zeros((), np.int32)


def _gpt() -> tuple[Any, int, np.ndarray, np.ndarray]:
    layers = tf.keras.layers
    words = tf.keras.Input((LENGTH,), dtype="int32")
    x = layers.Embedding(WORDS, WIDTH)(words)
    for _ in range(LAYERS):
        y = layers.LayerNormalization()(x)
        attention = layers.MultiHeadAttention(HEADS, WIDTH // HEADS)
        x = x + attention(y, y, use_causal_mask=True)
        y = layers.Dense(4 * WIDTH, activation="gelu")(layers.LayerNormalization()(x))
        x = x + layers.Dense(WIDTH)(y)
    scores = layers.Dense(WORDS, activation="softmax", dtype="float32")(x)
    text = np.zeros((LENGTH,), np.int32)
    return tf.keras.Model(words, scores), 8, text, text


def main() -> None:
    """Trains on one batch."""
    tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
    strategy = tf.distribute.MirroredStrategy()
    with strategy.scope():
        model, rows, x, y = {"resnet": _resnet, "gpt": _gpt}[sys.argv[1]]()
        model.compile("adam", "sparse_categorical_crossentropy")
    batch = rows * strategy.num_replicas_in_sync
    inputs, targets = (np.broadcast_to(one, (batch, *one.shape)) for one in (x, y))
    model.fit(tf.data.Dataset.from_tensors((inputs, targets)), verbose=0)


if __name__ == "__main__":
    main()
