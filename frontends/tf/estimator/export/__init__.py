"""`tf.estimator.export`: what a model for serving takes and gives."""

from frontends.tf._names import attributes, exported_by
from frontends.tf.estimator.export.outputs import ClassificationOutput as ClassificationOutput
from frontends.tf.estimator.export.outputs import EvalOutput as EvalOutput
from frontends.tf.estimator.export.outputs import ExportOutput as ExportOutput
from frontends.tf.estimator.export.outputs import PredictOutput as PredictOutput
from frontends.tf.estimator.export.outputs import RegressionOutput as RegressionOutput
from frontends.tf.estimator.export.receivers import ServingInputReceiver as ServingInputReceiver
from frontends.tf.estimator.export.receivers import (
    TensorServingInputReceiver as TensorServingInputReceiver,
)
from frontends.tf.estimator.export.receivers import (
    build_parsing_serving_input_receiver_fn as build_parsing_serving_input_receiver_fn,
)
from frontends.tf.estimator.export.receivers import (
    build_raw_serving_input_receiver_fn as build_raw_serving_input_receiver_fn,
)

__getattr__, __dir__ = attributes("tf.estimator.export", exported_by(__name__))
