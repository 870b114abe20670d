"""`tf.compat.v1.distribute.experimental`: the names of `tf.distribute.experimental`, with TensorFlow 1's TPU strategy."""

from typing import Any

from frontends.tf.distribute import experimental
from frontends.tf.distribute.strategies.tpu import TPUStrategyV1 as TPUStrategy

__all__ = ["TPUStrategy"]


def __getattr__(name: str) -> Any:
    return getattr(experimental, name)


def __dir__() -> list[str]:
    return sorted({*dir(experimental), *__all__})
