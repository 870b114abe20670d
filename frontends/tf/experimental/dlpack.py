"""`tf.experimental.dlpack`: arrays of other libraries, without a copy where that can be."""

from typing import Any

import jax
import jax.numpy as jnp

from frontends.tf import _names
from frontends.tf._typing import TensorLike
from frontends.tf.ops.convert import convert_to_tensor


def to_dlpack(tf_tensor: TensorLike) -> Any:
    """Gives an array to another library.

    Returns:
        A capsule, as `torch.utils.dlpack.from_dlpack` takes.

    Source: `tf.experimental.dlpack.to_dlpack`.
    """
    return convert_to_tensor(tf_tensor).__dlpack__()


class _Capsule:
    """What JAX takes: an object with the two methods of the protocol; a capsule has none."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **kwargs: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)  # CPU


def from_dlpack(dlcapsule: Any) -> jax.Array:
    """Takes an array of another library.

    Args:
        dlcapsule: an array with the method `__dlpack__`, or a capsule in the CPU's memory.

    Source: `tf.experimental.dlpack.from_dlpack`.
    """
    array = dlcapsule if hasattr(dlcapsule, "__dlpack__") else _Capsule(dlcapsule)
    return jnp.from_dlpack(array)


_TABLE = {"from_dlpack": from_dlpack, "to_dlpack": to_dlpack}
__getattr__, __dir__ = _names.attributes("tf.experimental.dlpack", _TABLE)
