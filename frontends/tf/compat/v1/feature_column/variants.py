"""What has another name in TensorFlow 1, or its arguments in another order."""

from frontends.tf import feature_column
from frontends.tf._typing import DTypeLike
from frontends.tf.feature_column import CategoricalColumn

shared_embedding_columns = feature_column.shared_embeddings


def categorical_column_with_vocabulary_file(
    key: str,
    vocabulary_file: str,
    vocabulary_size: int | None = None,
    num_oov_buckets: int = 0,
    default_value: int | None = None,
    dtype: DTypeLike = "string",
) -> CategoricalColumn:
    """Does what `tf.feature_column.categorical_column_with_vocabulary_file` does.

    Source: `tf.compat.v1.feature_column.categorical_column_with_vocabulary_file`.
    """
    return feature_column.categorical_column_with_vocabulary_file(
        key, vocabulary_file, vocabulary_size, dtype, default_value, num_oov_buckets
    )
