"""Names of TensorFlow 1 for columns."""

import numpy as np

from frontends import tf
from frontends.tf.feature_column import shared_embeddings
from frontends.tf.feature_column.column import Features

v1 = tf.compat.v1.feature_column


def test_the_order_of_arguments_is_that_of_tensorflow_1(tmp_path):
    path = tmp_path / "words"
    path.write_text("7\n9\n")
    column = v1.categorical_column_with_vocabulary_file("x", path, 2, 0, 1, tf.int64)
    assert column.ids(Features({"x": np.array([9, 7, 8])})).values.tolist() == [[1], [0], [1]]
    column = v1.categorical_column_with_vocabulary_file("x", path, 2, 3)
    assert column.num_buckets == 5


def test_shared_columns_have_another_name():
    assert v1.shared_embedding_columns is shared_embeddings
