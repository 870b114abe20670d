"""A training script for `jaxtribute plan`: as many rows for each device, on however many there are.

python tests/benchmarks/programs/planned.py resnet
"""

import sys

import numpy as np

from frontends import tf
from tests.benchmarks.programs import accelerated

# What makes the model, the rows of a device, and what draws rows.
_MODELS = {
    "resnet": (accelerated.resnet_of, accelerated.PICTURES, accelerated.pictures),
    "gpt": (accelerated.transformer_of, accelerated.TEXTS, accelerated.texts),
}


def main() -> None:
    """Trains on one batch."""
    model_of, rows, draw = _MODELS[sys.argv[1]]
    strategy = tf.distribute.MirroredStrategy()
    with strategy.scope():
        model = model_of(tf.keras)
        model.compile("adam", "sparse_categorical_crossentropy")
    batch = rows * strategy.num_replicas_in_sync
    x, y = (
        np.broadcast_to(one, (batch, *one.shape[1:])) for one in draw(np.random.default_rng(0), 1)
    )
    model.fit(tf.data.Dataset.from_tensors((x, y)), verbose=0)


if __name__ == "__main__":
    main()
