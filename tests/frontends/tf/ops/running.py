"""Running a function in every way that a script may: eagerly, in a `tf.function`, and on replicas."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from frontends import tf


def everywhere(function: Callable[..., Any], *args: Any) -> Any:
    """Calls a function eagerly, as a program, and on 1 and 2 replicas; all results must be the same.

    Args:
        function: what to call; it keeps no state.
        *args: arrays.

    Returns:
        The result, as lists.
    """
    args = tuple(map(tf.constant, args))
    eager = function(*args)
    _same(eager, tf.function(function)(*args))
    for count in (1, 2):
        strategy = tf.distribute.MirroredStrategy([f"cpu:{index}" for index in range(count)])
        result = strategy.run(function, args)
        for index in range(count):
            own = jax.tree.map(
                lambda leaf: strategy.experimental_local_results(leaf)[index],  # noqa: B023
                result,
                is_leaf=lambda leaf: hasattr(leaf, "num_replicas"),
            )
            _same(eager, own)
    return jax.tree.map(lambda leaf: np.asarray(leaf).tolist(), eager)


def _same(one: Any, other: Any) -> None:
    assert jax.tree.structure(one) == jax.tree.structure(other)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-6), one, other)
