"""`tf.compat.v1.initializers`: first values of variables, in the form of TensorFlow 1.

An *initializer* is called with a shape and a dtype. Its numbers come from its seed and the global one, as `tf.random`'s do,
and are drawn on the host: they are values wherever the variable is made, in a replica too.
"""

from frontends.tf._names import attributes
from frontends.tf.compat.v1 import initializing
from frontends.tf.compat.v1.initializers.base import Initializer as Initializer
from frontends.tf.compat.v1.initializers.constants import Constant, Ones, Zeros
from frontends.tf.compat.v1.initializers.distributions import (
    RandomNormal,
    RandomUniform,
    TruncatedNormal,
    UniformUnitScaling,
)
from frontends.tf.compat.v1.initializers.matrices import Identity, Orthogonal
from frontends.tf.compat.v1.initializers.scaling import (
    GlorotNormal,
    GlorotUniform,
    HeNormal,
    HeUniform,
    LecunNormal,
    LecunUniform,
    VarianceScaling,
)

_TOP = {
    "constant": Constant,
    "glorot_normal": GlorotNormal,
    "glorot_uniform": GlorotUniform,
    "ones": Ones,
    "orthogonal": Orthogonal,
    "random_normal": RandomNormal,
    "random_uniform": RandomUniform,
    "truncated_normal": TruncatedNormal,
    "uniform_unit_scaling": UniformUnitScaling,
    "variance_scaling": VarianceScaling,
    "zeros": Zeros,
}
# By name, as layers take them too.
INITIALIZERS: dict[str, type[Initializer]] = _TOP | {
    "he_normal": HeNormal,
    "he_uniform": HeUniform,
    "identity": Identity,
    "lecun_normal": LecunNormal,
    "lecun_uniform": LecunUniform,
}
# The names directly under `tf.compat.v1`: `zeros_initializer`, ...
TOP_INITIALIZERS = {f"{name}_initializer": made for name, made in _TOP.items()}

__getattr__, __dir__ = attributes(
    "tf.compat.v1.initializers",
    INITIALIZERS
    | {
        "global_variables": initializing.global_variables_initializer,
        "local_variables": initializing.local_variables_initializer,
        "tables_initializer": initializing.tables_initializer,
        "variables": initializing.variables_initializer,
    },
)
