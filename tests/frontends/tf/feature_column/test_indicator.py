"""Buckets as numbers; tests/golden compares them with TensorFlow's."""

import numpy as np

from frontends.tf import feature_column as columns
from frontends.tf.feature_column.column import Features

FEATURES = Features(
    {"i": np.array([[1, 1], [-1, 2]]), "w": np.array([[0.5, 2.0], [9.0, -1.0]], np.float32)}
)
INDEX = columns.categorical_column_with_identity("i", 3)


def test_buckets_are_counted():
    column = columns.indicator_column(INDEX)
    assert column.dense(FEATURES).tolist() == [[0, 2, 0], [0, 0, 1]]
    assert (column.variable_shape, column.name) == ((1, 3), "i_indicator")


def test_weights_are_added_up():
    column = columns.indicator_column(columns.weighted_categorical_column(INDEX, "w"))
    assert column.dense(FEATURES).tolist() == [[0, 2.5, 0], [0, 0, -1]]
