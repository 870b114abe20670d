"""`tf.contrib.eager`: which devices there are, and the first names of what `tf` has."""

from frontends.tf._names import attributes, defined_in
from frontends.tf.config import list_logical_devices


def list_devices() -> list[str]:
    """Lists the names of the devices that compute.

    Source: `tf.contrib.eager.list_devices`.
    """
    return [device.name for device in list_logical_devices()]


def num_gpus() -> int:
    """Counts the GPUs.

    Source: `tf.contrib.eager.num_gpus`.
    """
    return len(list_logical_devices("GPU"))


__getattr__, __dir__ = attributes(
    "tf.contrib.eager",
    defined_in(__name__),
    borrowed={
        "Checkpoint": "frontends.tf.train",
        "GradientTape": "frontends.tf",
        "Variable": "frontends.tf",
        "enable_eager_execution": "frontends.tf.compat.v1.switches",
        "executing_eagerly": "frontends.tf",
    },
)
