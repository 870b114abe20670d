"""Numbers and their intervals; tests/golden compares them with TensorFlow's."""

import jax.numpy as jnp
import numpy as np
import pytest

from frontends import tf
from frontends.tf import feature_column as columns
from frontends.tf.feature_column.column import Features

FEATURES = Features({"p": np.array([[1, 2], [3, 4]]), "name": np.array(["a", "b"])})


def test_numbers():
    column = columns.numeric_column("p", 2, dtype=tf.int32, normalizer_fn=lambda x: x - 1)
    found = column.dense(FEATURES)
    assert found.dtype == jnp.float32
    assert found.tolist() == [[0.0, 1.0], [2.0, 3.0]]
    assert column.variable_shape == (2,)
    assert columns.numeric_column("p", (2,), [1, 2]).default_value == (1, 2)
    assert columns.numeric_column("p", (2, 1), 0.5).default_value == ((0.5,), (0.5,))


def test_intervals_have_their_lower_boundary():
    column = columns.bucketized_column(columns.numeric_column("p", 2), [2.0, 3.0])
    assert column.dense(FEATURES, None).argmax(-1).tolist() == [[0, 1], [2, 2]]
    assert column.ids(FEATURES).values.tolist() == [[0, 4], [2, 5]]
    assert (column.num_buckets, column.size, column.name) == (6, 6, "p_bucketized")


def test_texts_are_no_numbers():
    with pytest.raises(ValueError, match=r"numeric_column\('name'\) got texts.*hash_bucket"):
        columns.numeric_column("name").dense(FEATURES)


def test_a_float_is_no_default_of_integers():
    with pytest.raises(TypeError, match="default_value must be compatible with dtype"):
        columns.numeric_column("p", default_value=0.5, dtype=tf.int64)


def test_columns_of_the_same_arguments_are_equal():
    one, two = (columns.numeric_column("p", [2]) for _ in range(2))
    assert one == two
    assert {one: 1}[two] == 1
