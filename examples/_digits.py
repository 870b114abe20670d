"""MNIST for the examples: 7,000 digits that come with the repository, or all of them."""

from pathlib import Path

import numpy as np
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

DATA = Path(__file__).parent / "data"


def load(split: str, data_dir: Path | None = DATA, download: bool = False):
    """Reads a split of MNIST through TensorFlow Datasets into two arrays."""
    import tensorflow_datasets as tfds
    from absl import logging

    logging.set_verbosity(logging.ERROR)  # TFDS warns that OpenCV would decode faster
    source = tfds.data_source("mnist", split=split, data_dir=data_dir, download=download)
    with Progress(
        TextColumn("reading {task.description}"), BarColumn(), MofNCompleteColumn()
    ) as bar:
        rows = list(bar.track(source, total=len(source), description=split))
    return np.stack([row["image"] for row in rows]), np.array([row["label"] for row in rows])
