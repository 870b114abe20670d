"""Functions of `tf` whose arguments may be on different devices, as the values of replicas are."""

import functools
from collections.abc import Callable, Mapping
from typing import Any

import jax

from frontends.tf.ops.operand_errors import explained
from spmd.replica import array_of, is_per_replica
from spmd.topology import brought_together


def across_devices(functions: Mapping[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    """Makes functions take arrays on different devices of this process, which JAX refuses.

    Args:
        functions: by name; they change nothing, so that one that failed can be called again.

    Returns:
        Functions that call them, and where JAX refuses, once more with the arrays brought together. What JAX raises
        about operands, they raise as what scripts catch (`operand_errors`).

    Examples:
        >>> import jax, jax.numpy as jnp
        >>> first, second = (jax.device_put(1.0, device) for device in jax.devices("cpu")[:2])
        >>> float(across_devices({"add": jnp.add})["add"](first, second))
        2.0
    """
    return {
        name: _across_devices(function) if callable(function) else function
        for name, function in functions.items()
    }


@functools.cache  # `tf.add` is `tf.math.add`
def _across_devices(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except (ValueError, TypeError, IndexError) as error:
            leaves, structure = jax.tree.flatten((args, kwargs), is_leaf=is_per_replica)
            together = brought_together(list(map(array_of, leaves)))
            if together is None:
                found = explained(f"tf.{function.__name__}", error, [*args, *kwargs.values()])
                if found is None:
                    raise
                raise found from None
            args, kwargs = structure.unflatten(together)
        return function(*args, **kwargs)

    return call
