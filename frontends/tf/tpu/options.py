"""Options of TPU programs: accepted, since XLA and the padding of batches here need none of them."""

import dataclasses
import enum


class PaddingSpec(enum.IntEnum):
    """How shapes that change are padded on a TPU; accepted.

    What differs here: a batch is padded to the size of a full one, and its padding is masked, whatever this says.

    Source: `tf.tpu.PaddingSpec`.
    """

    AUTO = 0
    POWER_OF_TWO = 1


@dataclasses.dataclass(frozen=True)
class XLAOptions:
    """How XLA compiles a step for TPUs; accepted.

    Attributes:
        use_spmd_for_xla_partitioning: True is what happens here always: one program that XLA's partitioner divides.
        enable_xla_dynamic_padder: of TensorFlow's shapes that change; here batches are padded and masked.

    Source: `tf.tpu.XLAOptions`.
    """

    use_spmd_for_xla_partitioning: bool = True
    enable_xla_dynamic_padder: bool = True
