"""`x.numpy()` for JAX arrays; tests/frontends/tf/test_array_methods.py runs on every version.

This file touches JAX internals: it sets an attribute of `jax._src.array.ArrayImpl`, the class of
concrete arrays, which stands for `type(jnp.zeros(()))` without starting a backend. Tracers are of
another class: inside a traced program `.numpy()` raises AttributeError, as in TensorFlow's graphs.
"""

from typing import Any

import numpy as np
from jax._src.array import ArrayImpl


def install() -> None:
    """Gives concrete JAX arrays the method `numpy`; once more changes nothing."""
    ArrayImpl.numpy = _numpy  # pyright: ignore[reportAttributeAccessIssue]


def _numpy(self: Any) -> Any:
    """Copies the array to a NumPy array, and a scalar to a NumPy scalar.

    It blocks until the array is computed. An array that is spread over processes cannot be read
    like this.

    Source: `tf.Tensor.numpy`.
    """
    return np.array(self)[()]
