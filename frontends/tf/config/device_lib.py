"""`device_lib.list_local_devices`: what scripts that import TensorFlow's internals ask for the GPUs."""

from frontends.tf.config.devices import LogicalDevice, list_logical_devices


def list_local_devices(session_config: object = None) -> list[LogicalDevice]:
    """Lists the devices of this machine that programs run on. Starts the backend.

    What differs here: they have `name` and `device_type` alone.

    Args:
        session_config: accepted.

    Examples:
        >>> list_local_devices()[0].name
        '/device:CPU:0'

    Source: `tensorflow.python.client.device_lib.list_local_devices`.
    """
    return list_logical_devices()
