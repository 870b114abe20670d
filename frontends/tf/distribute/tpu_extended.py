"""The `extended` object of TPU strategies."""

from typing import Any

from frontends.tf.distribute.extended import StrategyExtended
from frontends.tf.tpu.hardware_feature import HardwareFeature


class TPUExtended(StrategyExtended):
    """What libraries ask a TPU strategy for, besides what every strategy has.

    Attributes:
        experimental_between_graph: False, as in TensorFlow: of TensorFlow 1's graphs.
        experimental_should_init: True, as in TensorFlow.
        should_checkpoint: True, as in TensorFlow: every process takes part in saving.
        should_save_summary: True, as in TensorFlow.

    Source: `tf.distribute.TPUStrategy.extended`.
    """

    experimental_require_static_shapes = True
    experimental_between_graph = False
    experimental_should_init = True
    should_checkpoint = True
    should_save_summary = True

    @property
    def num_hosts(self) -> int:
        """How many hosts have devices of the strategy."""
        return len({device.process_index for device in self._strategy.mesh.devices.flat})

    @property
    def num_replicas_per_host(self) -> int:
        """How many replicas each host has.

        Raises:
            ValueError: not all have as many.
        """
        replicas, hosts = self._strategy.num_replicas_in_sync, self.num_hosts
        if replicas % hosts:
            raise ValueError(
                f"num_replicas_per_host has no answer: {replicas} replicas are on {hosts} hosts."
            )
        return replicas // hosts

    @property
    def tpu_hardware_feature(self) -> HardwareFeature:
        """Features of the TPU; see `tf.tpu.experimental.HardwareFeature`."""
        return HardwareFeature()

    @property
    def device_assignment(self) -> Any:
        """The assignment that the strategy was made with; None if there was none."""
        return getattr(self._strategy, "_device_assignment", None)
