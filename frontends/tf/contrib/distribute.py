"""`tf.contrib.distribute`: strategies under the names that they first had, in TensorFlow 1.

A batch is the global batch, as in TensorFlow 2, where TensorFlow 1 gave one to each replica.
"""

from typing import Any

from frontends.tf import distribute
from frontends.tf.distribute.strategies.multi_worker_mirrored import (
    MultiWorkerMirroredStrategy as CollectiveAllReduceStrategy,
)

__all__ = ["CollectiveAllReduceStrategy"]


def __getattr__(name: str) -> Any:
    return getattr(distribute, name)


def __dir__() -> list[str]:
    return sorted({*dir(distribute), *__all__})
