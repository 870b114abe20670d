"""`tf.distribute.OneDeviceStrategy`."""

import spmd
from frontends.tf.distribute.strategy import Strategy
from spmd.topology import find_devices


class OneDeviceStrategy(Strategy):
    """Trains on one device, with the same script as on many.

    Examples:
        >>> OneDeviceStrategy("/cpu:0").num_replicas_in_sync
        1

    Source: `tf.distribute.OneDeviceStrategy`.
    """

    combines_values = False

    def __init__(self, device: str) -> None:
        """Makes the strategy; starts the backend.

        Args:
            device: a device string, such as `"/gpu:0"`; without an index, the first of its kind.

        Raises:
            spmd.errors.MeshError: the device does not exist.
        """
        super().__init__(spmd.make_mesh(find_devices([device])[:1]))
