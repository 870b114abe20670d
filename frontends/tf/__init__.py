"""TensorFlow's names over the engine: change the import, keep the training script.

    from frontends import tf            # was: import tensorflow as tf

    strategy = tf.distribute.MirroredStrategy()

Importing it imports no TensorFlow and no Keras, and starts no backend. On processors it has all threads share one heap of
the C library, unless JAXTRIBUTE_KEEP_MEMORY=0 stands in the environment. It gives JAX's arrays the
method `numpy()`, and lets `tfds.load` of TensorFlow Datasets make datasets of `tf.data`. A later `import keras` takes JAX,
unless KERAS_BACKEND says another, and knows strategies and datasets as `tf.keras` does. JAXTRIBUTE_SIMULATE=tpu:8 has JAX
start with eight CPU devices, which stand for TPU cores. A name that does not exist raises AttributeError, which says what
to use instead.
"""

from frontends.tf import _array_methods, _keras_backend, _names, _remedies, _table, _tfds
from frontends.tf import autograph as autograph
from frontends.tf import bitwise as bitwise
from frontends.tf import compat as compat
from frontends.tf import config as config
from frontends.tf import contrib as contrib
from frontends.tf import data as data
from frontends.tf import debugging as debugging
from frontends.tf import distribute as distribute
from frontends.tf import dtypes as dtypes
from frontends.tf import errors as errors
from frontends.tf import image as image
from frontends.tf import linalg as linalg
from frontends.tf import math as math
from frontends.tf import nest as nest
from frontends.tf import nn as nn
from frontends.tf import random as random
from frontends.tf import version as version
from frontends.tf.compat.v1.assigning import assign as assign
from frontends.tf.compat.v1.logging import get_logger as get_logger
from frontends.tf.data.spec import TensorSpec as TensorSpec
from frontends.tf.device_spec import DeviceSpec as DeviceSpec
from frontends.tf.dtypes import DType as DType
from frontends.tf.dtypes import as_dtype as as_dtype
from frontends.tf.function import function as function
from frontends.tf.gradient_tape import GradientTape as GradientTape
from frontends.tf.gradient_tape import UnconnectedGradients as UnconnectedGradients
from frontends.tf.indexed_slices import IndexedSlices as IndexedSlices
from frontends.tf.module import Module as Module
from frontends.tf.tensor import Tensor as Tensor
from frontends.tf.tensor_shape import TensorShape as TensorShape
from frontends.tf.variable import Variable as Variable
from frontends.tf.variable import VariableAggregation as VariableAggregation
from frontends.tf.variable import VariableSynchronization as VariableSynchronization
from spmd import lowering as _lowering
from spmd import topology as _topology

__version__ = version.VERSION
__git_version__ = version.GIT_VERSION

_array_methods.install()
_remedies.register()
_tfds.install()
_keras_backend.choose()
_topology.leave_out_absent_accelerators()
# Again: plug-ins without a device, for which the import of `spmd` did nothing, are left out now.
_lowering.share_one_arena()
_topology.prepare_simulation()
__getattr__, __dir__ = _names.attributes(
    "tf",
    _table.TABLE | _names.exported_by(__name__),
    _table.LAZY,
    present=["__version__", "__git_version__"],
    borrowed=_table.BORROWED,
)
_keras_backend.connect()
