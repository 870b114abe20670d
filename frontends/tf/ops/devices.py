"""Functions of `tf` whose arguments JAX refuses: on different devices, as the values of replicas are, or large integers."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf.dtypes import large_number
from frontends.tf.ops.operand_errors import explained
from spmd.replica import array_of, is_per_replica
from spmd.topology import brought_together

# By function, which may have several names: `tf.add` is `tf.math.add`.
_MADE: dict[Callable[..., Any], Callable[..., Any]] = {}
_NAMES: dict[Callable[..., Any], str] = {}


def across_devices(
    module: str, functions: Mapping[str, Callable[..., Any]]
) -> dict[str, Callable[..., Any]]:
    """Makes functions take what JAX refuses: arrays on different devices of this process, integers of over 32 bits.

    Args:
        module: TensorFlow's name of the module that has the functions, for errors.
        functions: by name; they change nothing, so that one that failed can be called again.

    Returns:
        Functions that call them, and where JAX refuses, once more with the arrays brought together, and integers of the
        arrays' dtype. What JAX raises about operands, they raise as what scripts catch (`operand_errors`).

    Examples:
        >>> import jax, jax.numpy as jnp
        >>> first, second = (jax.device_put(1.0, device) for device in jax.devices("cpu")[:2])
        >>> float(across_devices("tf", {"add": jnp.add})["add"](first, second))
        2.0
    """
    return {
        name: _across_devices(f"{module}.{name}", function) if callable(function) else function
        for name, function in functions.items()
    }


def _across_devices(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    # The shortest one is what most scripts write.
    _NAMES[function] = min(name, _NAMES.get(function, name), key=len)
    if function in _MADE:
        return _MADE[function]

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except (ValueError, TypeError, IndexError) as error:
            leaves, structure = jax.tree.flatten((args, kwargs), is_leaf=is_per_replica)
            together = brought_together(list(map(array_of, leaves)))
            if together is None:
                found = explained(_NAMES[function], error, [*args, *kwargs.values()])
                if found is None:
                    raise
                raise found from None
            args, kwargs = structure.unflatten(together)
        except OverflowError:
            leaves, structure = jax.tree.flatten((args, kwargs), is_leaf=is_per_replica)
            dtypes = [leaf.dtype for leaf in map(array_of, leaves) if isinstance(leaf, jax.Array)]
            args, kwargs = structure.unflatten([_of_dtypes(leaf, dtypes) for leaf in leaves])
        return function(*args, **kwargs)

    _MADE[function] = call
    return call


def _of_dtypes(leaf: Any, dtypes: Sequence[np.dtype]) -> Any:
    """Gives an integer of more than 32 bits the dtype of the arrays that it is computed with, as TensorFlow does."""
    if type(leaf) is not int or not dtypes:
        return leaf
    inexact = (dtype for dtype in dtypes if jnp.issubdtype(dtype, jnp.inexact))
    return large_number(leaf, next(inexact, dtypes[0]))
