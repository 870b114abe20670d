"""`tf.compat.v1.metrics`: metrics over many batches, as pairs of a value and an update.

The *value* follows from state alone: local variables, which start at zero. The *update* is the value after a batch was added;
in a model function the state changes when it is fetched. Replicas add to parts of their own: the value is that of all
parts together, an update that of the replica's. Rows of padding count for nothing. Outside of model functions, where there is
nobody to keep the state, both are of the one batch.
"""

from frontends.tf import _names
from frontends.tf.compat.v1.metrics import classes
from frontends.tf.compat.v1.metrics.classes import mean_iou as mean_iou
from frontends.tf.compat.v1.metrics.classes import (
    mean_per_class_accuracy as mean_per_class_accuracy,
)
from frontends.tf.compat.v1.metrics.counts import false_negatives as false_negatives
from frontends.tf.compat.v1.metrics.counts import false_positives as false_positives
from frontends.tf.compat.v1.metrics.counts import precision as precision
from frontends.tf.compat.v1.metrics.counts import recall as recall
from frontends.tf.compat.v1.metrics.counts import true_negatives as true_negatives
from frontends.tf.compat.v1.metrics.counts import true_positives as true_positives
from frontends.tf.compat.v1.metrics.means import accuracy as accuracy
from frontends.tf.compat.v1.metrics.means import mean as mean
from frontends.tf.compat.v1.metrics.means import mean_absolute_error as mean_absolute_error
from frontends.tf.compat.v1.metrics.means import mean_cosine_distance as mean_cosine_distance
from frontends.tf.compat.v1.metrics.means import mean_relative_error as mean_relative_error
from frontends.tf.compat.v1.metrics.means import mean_squared_error as mean_squared_error
from frontends.tf.compat.v1.metrics.means import mean_tensor as mean_tensor
from frontends.tf.compat.v1.metrics.means import percentage_below as percentage_below
from frontends.tf.compat.v1.metrics.means import root_mean_squared_error as root_mean_squared_error
from frontends.tf.compat.v1.metrics.thresholds import auc as auc
from frontends.tf.compat.v1.metrics.thresholds import (
    false_negatives_at_thresholds as false_negatives_at_thresholds,
)
from frontends.tf.compat.v1.metrics.thresholds import (
    false_positives_at_thresholds as false_positives_at_thresholds,
)
from frontends.tf.compat.v1.metrics.thresholds import (
    precision_at_thresholds as precision_at_thresholds,
)
from frontends.tf.compat.v1.metrics.thresholds import recall_at_thresholds as recall_at_thresholds
from frontends.tf.compat.v1.metrics.thresholds import (
    sensitivity_at_specificity as sensitivity_at_specificity,
)
from frontends.tf.compat.v1.metrics.thresholds import (
    specificity_at_sensitivity as specificity_at_sensitivity,
)
from frontends.tf.compat.v1.metrics.thresholds import (
    true_negatives_at_thresholds as true_negatives_at_thresholds,
)
from frontends.tf.compat.v1.metrics.thresholds import (
    true_positives_at_thresholds as true_positives_at_thresholds,
)
from frontends.tf.compat.v1.metrics.top_k import average_precision_at_k as average_precision_at_k
from frontends.tf.compat.v1.metrics.top_k import precision_at_k as precision_at_k
from frontends.tf.compat.v1.metrics.top_k import precision_at_top_k as precision_at_top_k
from frontends.tf.compat.v1.metrics.top_k import recall_at_k as recall_at_k
from frontends.tf.compat.v1.metrics.top_k import recall_at_top_k as recall_at_top_k
from frontends.tf.compat.v1.metrics.top_k import (
    sparse_average_precision_at_k as sparse_average_precision_at_k,
)
from frontends.tf.compat.v1.metrics.top_k import sparse_precision_at_k as sparse_precision_at_k

# Of TensorFlow's internals, what the package tf_metrics and many copies of it import.
_INTERNAL = {"_streaming_confusion_matrix": classes.streaming_confusion_matrix}
__getattr__, __dir__ = _names.attributes(
    "tf.compat.v1.metrics", _names.exported_by(__name__) | _INTERNAL
)
