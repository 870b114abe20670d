"""`tf.compat.v1.feature_column`: columns, and what models of TensorFlow 1 make of them."""

from frontends.tf._names import attributes, exported_by
from frontends.tf.compat.v1.feature_column.inputs import input_layer as input_layer
from frontends.tf.compat.v1.feature_column.linear import linear_model as linear_model
from frontends.tf.compat.v1.feature_column.variants import (
    categorical_column_with_vocabulary_file as categorical_column_with_vocabulary_file,
)
from frontends.tf.compat.v1.feature_column.variants import (
    shared_embedding_columns as shared_embedding_columns,
)
from frontends.tf.feature_column import bucketized_column as bucketized_column
from frontends.tf.feature_column import (
    categorical_column_with_hash_bucket as categorical_column_with_hash_bucket,
)
from frontends.tf.feature_column import (
    categorical_column_with_identity as categorical_column_with_identity,
)
from frontends.tf.feature_column import (
    categorical_column_with_vocabulary_list as categorical_column_with_vocabulary_list,
)
from frontends.tf.feature_column import crossed_column as crossed_column
from frontends.tf.feature_column import embedding_column as embedding_column
from frontends.tf.feature_column import indicator_column as indicator_column
from frontends.tf.feature_column import make_parse_example_spec as make_parse_example_spec
from frontends.tf.feature_column import numeric_column as numeric_column
from frontends.tf.feature_column import weighted_categorical_column as weighted_categorical_column

__getattr__, __dir__ = attributes("tf.compat.v1.feature_column", exported_by(__name__))
