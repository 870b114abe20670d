"""`tf.contrib.distribute`: strategies under the names that they first had, in TensorFlow 1.

A batch is the global batch, as in TensorFlow 2, where TensorFlow 1 gave one to each replica.
"""

from typing import Any

from frontends.tf import distribute
from frontends.tf.distribute.strategies.multi_worker_mirrored import (
    MultiWorkerMirroredStrategy as CollectiveAllReduceStrategy,
)
from frontends.tf.distribute.strategies.parameter_server import (
    ParameterServerStrategy as _ParameterServerStrategy,
)

__all__ = ["CollectiveAllReduceStrategy", "ParameterServerStrategy"]


class ParameterServerStrategy(_ParameterServerStrategy):
    """Trains asynchronously on parameter servers; on one machine, on all of its devices, with variables on the host.

    Source: `tf.contrib.distribute.ParameterServerStrategy`.
    """

    def __init__(self, num_gpus_per_worker: int = 0) -> None:
        """Connects to the servers that TF_CONFIG names, if it names any.

        Args:
            num_gpus_per_worker: without effect: devices that JAX sees are used.
        """
        super().__init__()


def __getattr__(name: str) -> Any:
    return getattr(distribute, name)


def __dir__() -> list[str]:
    return sorted({*dir(distribute), *__all__})
