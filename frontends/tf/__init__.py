"""TensorFlow's names over the engine: change the import, keep the training script.

    from frontends import tf            # was: import tensorflow as tf

    strategy = tf.distribute.MirroredStrategy()

Importing it imports no TensorFlow and no Keras, and starts no backend. It gives JAX's arrays the
method `numpy()`, lets `tfds.load` of TensorFlow Datasets make datasets of `tf.data`, and has a later
`import keras` take JAX, unless KERAS_BACKEND says another. A name that does not exist raises
AttributeError, which says what to use instead.
"""

from jax import Array as Tensor

from frontends.tf import (
    _array_methods,
    _keras_backend,
    _remedies,
    _table,
    _tfds,
    autograph,
    compat,
    config,
    contrib,
    data,
    debugging,
    distribute,
    dtypes,
    errors,
    image,
    linalg,
    math,
    nest,
    nn,
    random,
    version,
)
from frontends.tf._names import attributes
from frontends.tf.compat.v1.logging import get_logger
from frontends.tf.data.spec import TensorSpec
from frontends.tf.dtypes import DType, TensorShape, as_dtype
from frontends.tf.function import function
from frontends.tf.gradient_tape import GradientTape, UnconnectedGradients
from frontends.tf.indexed_slices import IndexedSlices
from frontends.tf.variable import Variable, VariableAggregation, VariableSynchronization
from frontends.tf.version import VERSION as __version__

__all__ = [
    "DType",
    "GradientTape",
    "IndexedSlices",
    "Tensor",
    "TensorShape",
    "TensorSpec",
    "UnconnectedGradients",
    "Variable",
    "VariableAggregation",
    "VariableSynchronization",
    "__version__",
    "as_dtype",
    "autograph",
    "compat",
    "config",
    "contrib",
    "data",
    "debugging",
    "distribute",
    "dtypes",
    "errors",
    "function",
    "get_logger",
    "image",
    "linalg",
    "math",
    "nest",
    "nn",
    "random",
    "version",
]

_array_methods.install()
_remedies.register()
_tfds.install()
_keras_backend.choose()
__getattr__, __dir__ = attributes("tf", _table.TABLE, _table.LAZY, __all__)
