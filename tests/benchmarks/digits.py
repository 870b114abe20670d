"""The MNIST digits that come with the examples, for programs without TensorFlow Datasets."""

from pathlib import Path

import numpy as np

_DATA = Path(__file__).parents[2] / "examples" / "data"


def write_digits(path: str) -> None:
    """Writes them to a file, as arrays `images` and `labels`."""
    import tensorflow_datasets as tfds
    from absl import logging

    logging.set_verbosity(logging.ERROR)
    rows = list(tfds.data_source("mnist", split="train", data_dir=_DATA))
    images, labels = [row["image"] for row in rows], [row["label"] for row in rows]
    np.savez(path, images=np.stack(images), labels=np.array(labels))
