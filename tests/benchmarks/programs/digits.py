"""MNIST digits from the file that the benchmark hands to all programs."""

import numpy as np


def load(path: str, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Reads digits.

    Args:
        path: a file of arrays `images` and `labels`.
        rows: how many; the file's are repeated.

    Returns:
        Images of shape `(rows, 28, 28, 1)`, from 0 to 255, and labels of shape `(rows,)`.
    """
    with np.load(path) as arrays:
        images, labels = arrays["images"], arrays["labels"]
    order = np.arange(rows) % len(labels)
    return images[order], labels[order].astype(np.int32)


def scaled(path: str, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Reads digits from 0 to 1, as `load`."""
    images, labels = load(path, rows)
    return images.astype(np.float32) / 255, labels
