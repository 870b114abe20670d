"""`tf.tpu.experimental.embedding`: tables of embeddings, the features that are looked up in them, and serving them.

What TensorFlow trains in a TPU's SparseCores does not exist here; each such name is an error that says what to write.
"""

from frontends.tf import _names
from frontends.tf.tpu.experimental.embedding.configs import FeatureConfig as FeatureConfig
from frontends.tf.tpu.experimental.embedding.configs import QuantizationConfig as QuantizationConfig
from frontends.tf.tpu.experimental.embedding.configs import RowIdInitializer as RowIdInitializer
from frontends.tf.tpu.experimental.embedding.configs import TableConfig as TableConfig
from frontends.tf.tpu.experimental.embedding.lookup import (
    serving_embedding_lookup as serving_embedding_lookup,
)
from frontends.tf.tpu.experimental.embedding.optimizers import FTRL as FTRL
from frontends.tf.tpu.experimental.embedding.optimizers import SGD as SGD
from frontends.tf.tpu.experimental.embedding.optimizers import Adagrad as Adagrad
from frontends.tf.tpu.experimental.embedding.optimizers import AdagradMomentum as AdagradMomentum
from frontends.tf.tpu.experimental.embedding.optimizers import Adam as Adam
from frontends.tf.tpu.experimental.embedding.serving import (
    TPUEmbeddingForServing as TPUEmbeddingForServing,
)

__getattr__, __dir__ = _names.attributes(
    "tf.tpu.experimental.embedding", _names.exported_by(__name__)
)
