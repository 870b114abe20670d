"""Which library computes a function of images: NumPy on the host, or JAX.

Pictures have many sizes, and JAX would compile every operation for each of them. So what a script gives as NumPy's
arrays, and everything in a map function of a dataset that runs on elements, is computed by NumPy.
"""

from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from frontends.tf._typing import TensorLike
from frontends.tf.data.host_tensors import HostTensor
from frontends.tf.data.tracing import in_map_on_host
from frontends.tf.ops.convert import convert_to_tensor

_NARROW = {
    np.dtype(np.float64): np.float32,
    np.dtype(np.int64): np.int32,
    np.dtype(np.uint64): np.uint32,
}


def library_of(image: TensorLike, *others: TensorLike) -> tuple[ModuleType, Any]:
    """Chooses the library for an image.

    Args:
        image: what a function is called with.
        others: what it is combined with; if a program computes one of them, JAX computes the result.

    Returns:
        `numpy` or `jax.numpy`, and the image as an array of it.
    """
    for one in others:
        if isinstance(one, Tracer):
            return jnp, convert_to_tensor(image)
    if isinstance(image, np.ndarray | np.generic):
        return np, _narrow(np.asarray(image))
    array = convert_to_tensor(image)
    if in_map_on_host() and isinstance(array, jax.Array) and not isinstance(array, Tracer):
        return np, np.asarray(array)
    return jnp, array


def on_host(value: TensorLike) -> np.ndarray[Any, Any]:
    """Returns an array of NumPy, of at most 32 bits a number; fails for what only a program computes."""
    return _narrow(np.asarray(value))


def given(result: Any) -> Any:
    """Makes of a result what the script gets: NumPy's array in a map function that runs on elements, else JAX's."""
    if isinstance(result, jax.Array):
        return result
    if in_map_on_host():
        return result.view(HostTensor) if isinstance(result, np.ndarray) else result
    return jnp.asarray(result)


def _narrow(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if array.dtype in _NARROW and not jax.config.values["jax_enable_x64"]:
        return array.astype(_NARROW[array.dtype])
    return array
