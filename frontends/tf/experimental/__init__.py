"""`tf.experimental`: NumPy's names, arrays of other libraries, and switches of eager execution."""

from frontends.tf import _names
from frontends.tf.experimental import switches

__getattr__, __dir__ = _names.attributes(
    "tf.experimental",
    _names.defined_in(switches.__name__),
    {
        "dlpack": "frontends.tf.experimental.dlpack",
        "numpy": "frontends.tf.experimental.numpy",
    },
    borrowed={"Optional": "frontends.tf.data.experimental"},
)
