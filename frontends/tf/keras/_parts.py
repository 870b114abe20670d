"""The weights of Keras's layers under a `ParameterServerStrategy`: `layer.weights` lists the parts of divided variables.

What trains and saves a model takes whole variables, and so do `get_weights` and `set_weights`, which in TensorFlow have an
array for each part.
"""

import contextvars
from typing import Any

from frontends.tf._typing import VariableLike
from frontends.tf.distribute.device_names import devices_of, long_name
from frontends.tf.distribute.scope import get_strategy
from frontends.tf.distribute.variable_parts import holder_of, with_parts
from spmd.assigned import assigned
from spmd.integrations.keras import KerasObject, Method
from spmd.state import is_backed

_WHOLE: contextvars.ContextVar[bool] = contextvars.ContextVar("whole_weights", default=False)


def list_parts(own: Any) -> property:
    """Wraps `Layer.weights`, a property: lists the parts of divided variables."""

    def weights(self: KerasObject) -> list[VariableLike]:
        if _WHOLE.get():
            return own.fget(self)
        with assigned(_WHOLE, True):
            wholes = own.fget(self)
        return with_parts(wholes) if is_backed([holder_of(one) for one in wholes]) else wholes

    return property(weights, doc=own.__doc__)


def list_wholes(own: Any) -> property:
    """Wraps `Layer.trainable_weights` and the like, properties: lists whole variables, as tapes and optimizers take them."""

    def weights(self: KerasObject) -> list[VariableLike]:
        with assigned(_WHOLE, True):
            return own.fget(self)

    return property(weights, doc=own.__doc__)


def with_wholes(method: Method, /, self: KerasObject, *args: Any) -> Any:
    """Wraps `Layer.get_weights` and `set_weights`: they have an array for each variable, however it is divided."""
    with assigned(_WHOLE, True):
        return method(self, *args)


def device(self: KerasObject) -> str:
    """Name of the device that holds the variable; of one that lives on parameter servers, its first server."""
    servers = devices_of(holder_of(self))
    return servers[0] if servers else long_name(get_strategy().mesh.local_devices[0])
