"""`tf.estimator.inputs`: input functions of arrays and of data frames."""

from frontends.tf._names import attributes, exported_by
from frontends.tf.estimator.inputs.numpy_io import numpy_input_fn as numpy_input_fn
from frontends.tf.estimator.inputs.pandas_io import pandas_input_fn as pandas_input_fn

__getattr__, __dir__ = attributes("tf.estimator.inputs", exported_by(__name__))
