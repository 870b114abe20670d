"""`tf.feature_column`: how a model sees the features of a batch.

A column turns a feature into numbers, or into buckets that become numbers with `indicator_column` and `embedding_column`.
`tf.compat.v1.feature_column.input_layer` and `linear_model`, `tf.keras.layers.DenseFeatures`, and the estimators take columns.

Devices hold no texts. `prepare` replaces the texts of a batch by their fingerprints, `Texts`, of which a compiled step gets
the same buckets that TensorFlow gives the texts. Estimators call it on each batch.
"""

from frontends.tf._names import attributes, exported_by
from frontends.tf.feature_column.categorical import (
    categorical_column_with_hash_bucket as categorical_column_with_hash_bucket,
)
from frontends.tf.feature_column.categorical import (
    categorical_column_with_identity as categorical_column_with_identity,
)
from frontends.tf.feature_column.categorical import (
    categorical_column_with_vocabulary_file as categorical_column_with_vocabulary_file,
)
from frontends.tf.feature_column.categorical import (
    categorical_column_with_vocabulary_list as categorical_column_with_vocabulary_list,
)
from frontends.tf.feature_column.column import CategoricalColumn as CategoricalColumn
from frontends.tf.feature_column.column import DenseColumn as DenseColumn
from frontends.tf.feature_column.column import FeatureColumn as FeatureColumn
from frontends.tf.feature_column.column import Features as Features
from frontends.tf.feature_column.column import MakeVariable as MakeVariable
from frontends.tf.feature_column.column import dense_columns as dense_columns
from frontends.tf.feature_column.column import normalized as normalized
from frontends.tf.feature_column.combining import check_combiner as check_combiner
from frontends.tf.feature_column.combining import combined_rows as combined_rows
from frontends.tf.feature_column.crossed import crossed_column as crossed_column
from frontends.tf.feature_column.embedding import EmbeddingColumn as EmbeddingColumn
from frontends.tf.feature_column.embedding import embedding_column as embedding_column
from frontends.tf.feature_column.embedding import shared_embeddings as shared_embeddings
from frontends.tf.feature_column.indicator import indicator_column as indicator_column
from frontends.tf.feature_column.known_texts import KnownTexts as KnownTexts
from frontends.tf.feature_column.numeric import bucketized_column as bucketized_column
from frontends.tf.feature_column.numeric import numeric_column as numeric_column
from frontends.tf.feature_column.parsing import make_parse_example_spec as make_parse_example_spec
from frontends.tf.feature_column.texts import Texts as Texts
from frontends.tf.feature_column.texts import has_texts as has_texts
from frontends.tf.feature_column.texts import prepare as prepare
from frontends.tf.feature_column.texts import prepare_beside as prepare_beside
from frontends.tf.feature_column.texts import prepared as prepared
from frontends.tf.feature_column.weighted import (
    weighted_categorical_column as weighted_categorical_column,
)

__getattr__, __dir__ = attributes("tf.feature_column", exported_by(__name__))
