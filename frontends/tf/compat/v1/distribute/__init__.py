"""`tf.compat.v1.distribute`: the names of `tf.distribute`, and the TPU strategy that TensorFlow 1 had."""

from typing import Any

from frontends.tf import distribute
from frontends.tf.compat.v1.distribute import experimental as experimental


def __getattr__(name: str) -> Any:
    return getattr(distribute, name)


def __dir__() -> list[str]:
    return sorted({*dir(distribute), "experimental"})
