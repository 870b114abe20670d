"""`linear_model`: its variables; tests/golden compares its results with TensorFlow's."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf import feature_column as columns
from frontends.tf.graph import Graph

v1 = tf.compat.v1
FEATURES = {"fruit": np.array(["fig", "plum"]), "age": np.array([2.0, 3.0])}
FRUIT = columns.categorical_column_with_vocabulary_list("fruit", ["plum", "fig"])
AGE = columns.numeric_column("age")
EMBEDDED = columns.shared_embeddings([FRUIT], 3)[0]


def test_weights_start_as_zeros_and_are_found_again():
    variables = {}
    with Graph().as_default() as graph:
        found = v1.feature_column.linear_model(
            FEATURES, [FRUIT, AGE, EMBEDDED], 2, cols_to_vars=variables
        )
    assert found.tolist() == [[0, 0], [0, 0]]
    assert {getattr(key, "name", key): [v.name for v in of] for key, of in variables.items()} == {
        "age": ["linear_model/age/weights:0"],
        "fruit": ["linear_model/fruit/weights:0"],
        "fruit_shared_embedding": [
            "linear_model/fruit_shared_embedding/weights:0",
            "linear_model/fruit_shared_embedding/embedding_weights:0",
        ],
        "bias": ["linear_model/bias_weights:0"],
    }
    variables[FRUIT][0].assign([[1.0, 2.0], [3.0, 4.0]])
    variables[AGE][0].assign([[10.0, 20.0]])
    with Graph(graph.store).as_default():
        found = v1.feature_column.linear_model(FEATURES, [FRUIT, AGE, EMBEDDED], 2)
    assert found.tolist() == [[23, 44], [31, 62]]


def test_other_combiners_are_refused():
    with pytest.raises(ValueError, match="Given: 'max'"):
        v1.feature_column.linear_model(FEATURES, AGE, sparse_combiner="max")
