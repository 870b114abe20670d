"""What the hardware of a TPU offers besides programs of XLA."""

import enum
from typing import Any


class HardwareFeature:
    """Features of a TPU. JAX programs reach no embedding accelerators, so that there are none here.

    Source: `tf.tpu.experimental.HardwareFeature`.
    """

    class EmbeddingFeature(enum.Enum):
        """Versions of the embedding accelerator.

        Source: `tf.tpu.experimental.HardwareFeature.EmbeddingFeature`.
        """

        UNSUPPORTED = "UNSUPPORTED"
        V1 = "V1"
        V2 = "V2"

    def __init__(self, tpu_hardware_feature_proto: Any = None) -> None:
        """Makes it.

        Args:
            tpu_hardware_feature_proto: kept, and not read.
        """
        self.tpu_hardware_feature_proto = tpu_hardware_feature_proto

    @property
    def embedding_feature(self) -> "HardwareFeature.EmbeddingFeature":
        """The version of the embedding accelerator: `UNSUPPORTED`."""
        return HardwareFeature.EmbeddingFeature.UNSUPPORTED

    @property
    def num_embedding_devices_per_chip(self) -> int:
        """How many embedding accelerators a chip has: none."""
        return 0
