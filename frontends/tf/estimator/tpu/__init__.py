"""`tf.estimator.tpu`: estimators whose batches are divided over the cores of a TPU."""

from frontends.tf._names import attributes, exported_by
from frontends.tf.estimator.tpu.config import InputPipelineConfig as InputPipelineConfig
from frontends.tf.estimator.tpu.config import RunConfig as RunConfig
from frontends.tf.estimator.tpu.config import TPUConfig as TPUConfig
from frontends.tf.estimator.tpu.spec import TPUEstimatorSpec as TPUEstimatorSpec
from frontends.tf.estimator.tpu.tpu_estimator import TPUEstimator as TPUEstimator

__getattr__, __dir__ = attributes("tf.estimator.tpu", exported_by(__name__))
