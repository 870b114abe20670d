"""Rows that canned estimators are tested on."""

import numpy as np

from frontends import tf

COUNT = 64
_GRID = np.random.default_rng(0).uniform(-1, 1, (COUNT, 2)).astype(np.float32)
# With a margin, so that the classes can be told apart.
_X = _GRID + 0.3 * np.sign(_GRID.sum(1, keepdims=True))
FEATURES = {"x": _X, "side": np.where(_X[:, 0] > 0, "right", "left")}
LABELS = (_X.sum(1) > 0).astype(np.int64)


def numbers(key="x", size=2):
    """A numeric column."""
    return tf.feature_column.numeric_column(key, shape=(size,))


def words():
    """A column of texts."""
    return tf.feature_column.categorical_column_with_vocabulary_list("side", ["left", "right"])


def batches(labels=LABELS, size=32, epochs=None, features=FEATURES):
    """An input function."""
    rows = features if labels is None else (features, labels)
    return lambda: tf.data.Dataset.from_tensor_slices(rows).repeat(epochs).batch(size)
