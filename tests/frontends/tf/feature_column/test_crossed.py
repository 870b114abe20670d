"""Crosses; tests/golden compares their buckets with TensorFlow's."""

import jax
import numpy as np
import pytest

from frontends.tf import feature_column as columns
from frontends.tf.feature_column.column import Features

FEATURES = {
    "a": np.array([["x", "y"], ["x", ""]]),
    "n": np.array([[1], [-1]]),
    "age": np.array([20.0, 70.0]),
}
AGE = columns.bucketized_column(columns.numeric_column("age"), [18, 65])


def test_all_combinations_have_buckets_in_a_program_too():
    number = columns.categorical_column_with_identity("n", 3)
    column = columns.crossed_column(["a", AGE, columns.crossed_column([number, "a"], 7)], 1000)
    assert column.name == "a_X_a_X_age_bucketized_X_n"
    ids = column.ids(Features(FEATURES))
    # Two texts, an interval, a number, two texts; the second row has no number.
    assert ids.values.shape == (2, 4)
    assert ids.present.tolist() == [[True] * 4, [False] * 4]
    assert len(set(ids.values[0].tolist())) == 4

    @jax.jit
    def compute(features):
        return column.ids(Features(features)).values

    assert (compute(columns.prepare(FEATURES)) == ids.values).all()


def test_numbers_lose_their_fractions():
    found = {"age": np.array([[22.0], [38.7], [-3.5]]), "sex": np.array([["m"], ["f"], ["m"]])}
    ids = columns.crossed_column(["age", "sex"], 100).ids(Features(found))
    assert ids.values.ravel().tolist() == [87, 54, 50]  # TensorFlow's


def test_what_cannot_be_crossed():
    weighted = columns.weighted_categorical_column(AGE, "n")
    found = {**FEATURES, "n": np.ones((2, 1), np.float32)}
    with pytest.raises(ValueError, match="does not support weight_tensor"):
        columns.crossed_column(["a", weighted], 5).ids(Features(found))
    found = {**FEATURES, "n": np.ones((2, 1, 1), int)}
    with pytest.raises(ValueError, match="n has 3 axes"):
        columns.crossed_column(["a", "n"], 5).ids(Features(found))
