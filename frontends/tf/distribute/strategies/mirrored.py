"""`tf.distribute.MirroredStrategy`."""

from collections.abc import Sequence

import spmd
from frontends.tf.distribute.cross_device_ops import CrossDeviceOps, HierarchicalCopyAllReduce
from frontends.tf.distribute.strategy import Strategy
from spmd.replica import CollectiveOptions


class MirroredStrategy(Strategy):
    """Trains on all devices of one machine; every device holds a copy of every variable.

    Examples:
        >>> strategy = MirroredStrategy(["cpu:0"])
        >>> with strategy.scope():
        ...     losses = strategy.run(lambda: 2.0)
        >>> float(strategy.reduce("SUM", losses, axis=None))
        2.0

    Source: `tf.distribute.MirroredStrategy`.
    """

    has_components = True

    def __init__(
        self,
        devices: Sequence[str] | None = None,
        cross_device_ops: CrossDeviceOps | None = None,
    ) -> None:
        """Makes the strategy; starts the backend.

        Args:
            devices: device strings, one per replica; None takes all GPUs or TPUs, or all CPU devices
                where there is no other.
            cross_device_ops: `HierarchicalCopyAllReduce` sums gradients in two halves first; with others
                XLA chooses the algorithm.

        Raises:
            spmd.errors.MeshError: a device does not exist.
            TypeError: `cross_device_ops` is not one of TensorFlow's.
        """
        if cross_device_ops is not None and not isinstance(cross_device_ops, CrossDeviceOps):
            raise TypeError(
                f"cross_device_ops must be a tf.distribute.CrossDeviceOps, but is "
                f"{cross_device_ops!r}. Leave it out, or pass tf.distribute.NcclAllReduce()."
            )
        mesh = spmd.make_mesh(devices, local=True)
        hierarchical = isinstance(cross_device_ops, HierarchicalCopyAllReduce)
        half = spmd.topology.num_replicas(mesh) // 2 if hierarchical else 0
        super().__init__(mesh, collectives=CollectiveOptions(group_size=half))
