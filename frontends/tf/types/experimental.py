"""`tf.types.experimental`: what functions take and return, for annotations and `isinstance`."""

from frontends.tf import _names
from frontends.tf._typing import TensorLike
from frontends.tf.concrete_function import ConcreteFunction
from frontends.tf.function import Function

_TABLE = {
    "Callable": Function,
    "ConcreteFunction": ConcreteFunction,
    "GenericFunction": Function,
    "PolymorphicFunction": Function,
    "TensorLike": TensorLike,
}
__getattr__, __dir__ = _names.attributes(
    "tf.types.experimental",
    _TABLE,
    {"distributed": "frontends.tf.types.distributed"},
)
