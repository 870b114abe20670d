"""`x.numpy()` for JAX arrays; tests/frontends/tf/test_array_methods.py runs on every version.

This file touches JAX internals: it sets an attribute of `jax._src.array.ArrayImpl`, the class of
concrete arrays, which stands for `type(jnp.zeros(()))` without starting a backend. Tracers are of
another class, and take their attributes from `ShapedArray`: inside a traced program `.numpy` raises
AttributeError, as in TensorFlow's graphs.
"""

from typing import Any, Never

import numpy as np
from jax._src.array import ArrayImpl
from jax._src.core import ShapedArray, aval_property
from jax.core import Tracer


def install() -> None:
    """Gives concrete JAX arrays the method `numpy`; calling it again changes nothing."""
    ArrayImpl.numpy = _numpy  # pyright: ignore[reportAttributeAccessIssue]
    # Not a property of tracers: what it raises is replaced by what their __getattr__ raises.
    ShapedArray.numpy = aval_property(_no_numpy)  # pyright: ignore[reportAttributeAccessIssue]


def _no_numpy(tracer: Tracer) -> Never:
    raise AttributeError(
        f"numpy() was asked of {tracer.aval.str_short()} while a function is traced: its values are not "
        "known yet. Return it from the function, and call numpy() on what that gives: "
        "loss = train_step(batch); loss.numpy(). To look at it in the function, write tf.print(x)."
    )


def _numpy(self: Any) -> Any:
    """Copies the array to a NumPy array, and a scalar to a NumPy scalar.

    It blocks until the array is computed. An array that is spread over processes cannot be read
    like this.

    Source: `tf.Tensor.numpy`.
    """
    return np.array(self)[()]
