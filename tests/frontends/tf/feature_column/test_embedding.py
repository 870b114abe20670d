"""Embeddings, alone and shared; tests/golden compares results with TensorFlow's."""

import subprocess
import sys

import numpy as np
import pytest

from frontends.tf import feature_column as columns
from frontends.tf.feature_column.column import Features

INDEX = columns.categorical_column_with_identity("i", 100)
OTHER = columns.categorical_column_with_identity("j", 100)


def test_the_variable_is_asked_for_and_looked_up():
    asked = []

    def make(column, name, shape, initializer, trainable):
        asked.append((column.scope_name, name, shape, trainable))
        return initializer(shape, dtype="float32")

    column = columns.embedding_column(INDEX, 64, trainable=False)
    features = Features({"i": np.array([[4], [-1]])})
    found = column.flat(features, make)
    assert asked == [("i_embedding", "embedding_weights", (100, 64), False)]
    assert found.shape == (2, 64)
    assert (found[1] == 0).all()
    assert 0.05 < found[0].std() < 0.2  # 1 / sqrt(64) is 0.125


def test_shared_columns_ask_for_one_name():
    shared = columns.shared_embeddings([OTHER, INDEX], 2)
    assert [column.name for column in shared] == ["j_shared_embedding", "i_shared_embedding"]
    assert {column.scope_name for column in shared} == {"i_j_shared_embedding"}
    named = columns.shared_embeddings([INDEX], 2, shared_embedding_collection_name="both")
    assert named[0].scope_name == "both"


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ([columns.categorical_column_with_hash_bucket("k", 100)], "must have the same type"),
        ([columns.categorical_column_with_identity("k", 99)], "same number of buckets.*'k': 99"),
    ],
)
def test_columns_that_cannot_share(others, message):
    with pytest.raises(ValueError, match=message):
        columns.shared_embeddings([INDEX, *others], 2)


def test_columns_with_weights_share_with_others():
    weighted = columns.weighted_categorical_column(OTHER, "w")
    assert len(columns.shared_embeddings([INDEX, weighted], 2)) == 2


def test_what_is_refused():
    with pytest.raises(ValueError, match="must be a CategoricalColumn"):
        columns.embedding_column(columns.numeric_column("x"), 2)
    with pytest.raises(ValueError, match="warm_start_from"):
        columns.embedding_column(INDEX, 2, ckpt_to_load_from="model", tensor_name_in_ckpt="w")
    with pytest.raises(ValueError, match="Given: 'max'"):
        columns.embedding_column(INDEX, 2, "max")


def test_a_table_is_made_without_keras():
    """Its import takes seconds, and an estimator needs nothing else of it."""
    script = """
import sys
from frontends import tf
of = tf.feature_column.categorical_column_with_identity("x", 1000)
column = tf.feature_column.embedding_column(of, 4)
table = column.make_table(lambda column, name, shape, initializer, trainable: initializer(shape, "float32"))
assert table.shape == (1000, 4) and 0.4 < table.std() < 0.5 and abs(table).max() <= 1
assert "keras" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True)
