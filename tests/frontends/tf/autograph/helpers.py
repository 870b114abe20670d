"""Running a function eagerly, and as a program."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from frontends import tf


def both(function: Callable[..., Any], *args: Any) -> Any:
    """Calls a function as Python, and as a `tf.function` of tensors; the results must be the same.

    Args:
        function: what to call.
        *args: numbers or arrays.

    Returns:
        The result.
    """
    eager = function(*args)
    program = tf.function(function)(*map(tf.constant, args))
    jax.tree.map(np.testing.assert_allclose, eager, program)
    return jax.tree.map(lambda leaf: np.asarray(leaf).tolist(), program)
