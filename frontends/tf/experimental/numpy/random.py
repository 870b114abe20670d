"""`tf.experimental.numpy.random`: NumPy's old functions, which draw from the stream of `tf.random`."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf import _names
from frontends.tf._typing import DTypeLike, ShapeLike, TensorLike
from frontends.tf.dtypes import jax_dtype
from frontends.tf.ops import random
from frontends.tf.ops.convert import convert_to_tensor, static_shape
from frontends.tf.ops.draws import joint_shape


def seed(s: Any) -> None:
    """Sets the global seed, as `tf.random.set_seed` does.

    Source: `tf.experimental.numpy.random.seed`.
    """
    random.set_seed(int(np.asarray(s)))


def rand(*size: int) -> jax.Array:
    """Draws uniformly from 0 to 1.

    Source: `tf.experimental.numpy.random.rand`.
    """
    return random.uniform(size)


def randn(*args: int) -> jax.Array:
    """Draws from the standard normal distribution.

    Source: `tf.experimental.numpy.random.randn`.
    """
    return random.normal(args)


def standard_normal(size: ShapeLike = None) -> jax.Array:
    """Draws from the standard normal distribution.

    Source: `tf.experimental.numpy.random.standard_normal`.
    """
    return random.normal(() if size is None else static_shape(size))


def uniform(low: TensorLike = 0.0, high: TensorLike = 1.0, size: ShapeLike = None) -> jax.Array:
    """Draws uniformly from an interval; without a size, in the shape of its ends.

    Source: `tf.experimental.numpy.random.uniform`.
    """
    ends = [convert_to_tensor(one).astype(jnp.float32) for one in (low, high)]
    sizes = joint_shape(*ends) if size is None else static_shape(size)
    return random.uniform(sizes, *ends)


def poisson(lam: TensorLike = 1.0, size: ShapeLike = None) -> jax.Array:
    """Draws from a Poisson distribution.

    Source: `tf.experimental.numpy.random.poisson`.
    """
    if size is None:
        return random.poisson((), lam, jnp.int32)
    return random.poisson(static_shape(size), lam, jnp.int32)


def randint(
    low: TensorLike,
    high: TensorLike = None,
    size: ShapeLike = None,
    dtype: DTypeLike = "int64",
) -> jax.Array:
    """Draws integers from `low` on and below `high`; from 0 on and below `low`, if that is the only one.

    Source: `tf.experimental.numpy.random.randint`.
    """
    first, end = (0, low) if high is None else (low, high)
    sizes = () if size is None else static_shape(size)
    return random.uniform(sizes, first, end, jax_dtype(dtype))


__getattr__, __dir__ = _names.attributes(
    "tf.experimental.numpy.random", _names.defined_in(__name__)
)
