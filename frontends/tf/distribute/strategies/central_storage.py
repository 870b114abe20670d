"""`tf.distribute.experimental.CentralStorageStrategy`."""

from collections.abc import Sequence

import spmd
from frontends.tf.distribute.strategy import Strategy
from spmd.topology import find_devices


class CentralStorageStrategy(Strategy):
    """Trains on all devices of one machine, as `MirroredStrategy` does; results are the same.

    In TensorFlow the variables live on one device, and the others fetch them for every step. Here every
    device holds a copy, because XLA's programs keep their state on the devices that compute, so no memory
    is saved. `extended.parameter_devices` names the device that a script expects.

    As in TensorFlow, `distribute_datasets_from_function` leaves out the last step of a pass if its batches do not
    suffice for all replicas (`experimental_distribute_dataset` drops nothing); and of several replicas, none may write
    to a `tf.Variable` without an aggregation.

    Source: `tf.distribute.experimental.CentralStorageStrategy`.
    """

    drops_last_step = True
    requires_aggregation = True

    def __init__(
        self, compute_devices: Sequence[str] | None = None, parameter_device: str | None = None
    ) -> None:
        """Makes the strategy; starts the backend.

        Args:
            compute_devices: device strings, one per replica; None takes all GPUs or TPUs, or all CPU
                devices where there is no other.
            parameter_device: where TensorFlow would keep variables; None takes the first device if
                there is one replica, else the host's CPU.

        Raises:
            spmd.errors.MeshError: a device does not exist.
        """
        super().__init__(spmd.make_mesh(compute_devices))
        if parameter_device is None and self.num_replicas_in_sync > 1:
            parameter_device = "cpu:0"
        named = (
            self.mesh.devices.flat if parameter_device is None else find_devices([parameter_device])
        )
        self.extended.holders = (named[0],)
