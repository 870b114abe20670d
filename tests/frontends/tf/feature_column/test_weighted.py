"""Weights of buckets; tests/golden compares results with TensorFlow's."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf import feature_column as columns
from frontends.tf.feature_column.column import Features
from frontends.tf.feature_column.parsing import VarLenFeature

INDEX = columns.categorical_column_with_identity("i", 5)
COLUMN = columns.weighted_categorical_column(INDEX, "w")


def ids(weights, column=COLUMN):
    return column.ids(Features({"i": np.array([[1, 2], [-1, 3]]), "w": np.array(weights)}))


def test_a_weight_of_zero_leaves_a_bucket_out():
    found = ids(np.float32([[0.5, 0.0], [1.0, 2.0]]))
    assert found.present.tolist() == [[True, False], [False, True]]
    assert found.weights.tolist() == [[0.5, 0.0], [1.0, 2.0]]
    assert (COLUMN.num_buckets, COLUMN.name) == (5, "i_weighted_by_w")


def test_integers_can_be_weights():
    column = columns.weighted_categorical_column(INDEX, "w", tf.int64)
    assert ids([[1, 2], [3, 4]], column).weights.dtype == tf.float32


def test_other_weights_are_refused():
    with pytest.raises(ValueError, match="Bad dtype, expected float32, but got int32"):
        ids([[1, 2], [3, 4]])
    with pytest.raises(ValueError, match=r"has the shape \(2, 1\).*\(2, 2\)"):
        ids(np.float32([[1], [2]]))


def test_parsing_needs_another_key():
    assert COLUMN.parse_example_spec["w"] == VarLenFeature(tf.float32)
    with pytest.raises(ValueError, match="already exists for i"):
        _ = columns.weighted_categorical_column(INDEX, "i").parse_example_spec
