"""MNIST for the examples: 7,000 digits that come with the repository, or all of them."""

from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

DATA = Path(__file__).parent / "data"
BLOCK = 500  # rows; reading them one by one takes a third longer


def load(split: str, data_dir: Path | None = DATA, download: bool = False):
    """Reads a split of MNIST through TensorFlow Datasets into two arrays."""
    import tensorflow_datasets as tfds
    from absl import logging

    logging.set_verbosity(logging.ERROR)  # TFDS warns that OpenCV would decode faster
    source: Any = tfds.data_source("mnist", split=split, data_dir=data_dir, download=download)
    images, labels = [], []
    with Progress(
        TextColumn("reading {task.description}"), BarColumn(), MofNCompleteColumn()
    ) as bar:
        task = bar.add_task(split, total=len(source))
        for first in range(0, len(source), BLOCK):
            rows = source.__getitems__(range(first, min(first + BLOCK, len(source))))
            images.append(np.stack([row["image"] for row in rows]))
            labels.append(np.array([row["label"] for row in rows]))
            bar.advance(task, len(rows))
    return np.concatenate(images), np.concatenate(labels)
