"""Batch normalization in a replica: statistics of valid rows, or with `synchronized` of all replicas' rows.

Touches Keras internals, which tests/spmd/integrations/keras/test_batch_normalization.py runs on every supported
version: `BatchNormalization._moments` and `._reduction_axes`.
"""

import functools
import inspect
from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jax import lax

from spmd.integrations.keras.masking import rows_of
from spmd.integrations.keras.methods import with_attributes
from spmd.integrations.keras.typing import Layer, Method
from spmd.replica import all_reduce, in_replica
from spmd.typing import ArrayLike


@functools.partial(jax.custom_jvp, nondiff_argnums=(2,))
def squared_deviations(values: jax.Array, mean: jax.Array, axes: Sequence[int]) -> jax.Array:
    """Sums squared deviations from the mean.

    The derivative does not go through the mean: over all values that it averages, that part is zero at any
    order. Without this rule a step computes it, and keeps the deviations in memory for the backward pass.

    Args:
        values: any array.
        mean: of these values, or of more that include them; broadcasts to their shape.
        axes: axes to sum over. Sum over the mean's other axes yourself.

    Returns:
        The sums, with axes of size 1.

    Examples:
        >>> import jax.numpy as jnp
        >>> squared_deviations(jnp.array([1.0, 2.0, 3.0]), jnp.array(2.0), (0,)).tolist()
        [2.0]

    Source: the derivative of the variance, as in batch normalization (https://arxiv.org/abs/1502.03167, section 3).
    """
    return jnp.square(values - mean).sum(axes, keepdims=True)


@squared_deviations.defjvp
def _derivative(
    axes: Sequence[int], primals: tuple[jax.Array, jax.Array], tangents: tuple[jax.Array, jax.Array]
) -> tuple[jax.Array, jax.Array]:
    values, mean = primals
    # Without the barrier XLA reuses the forward pass's deviations, and so keeps them in memory.
    deviations = values - lax.optimization_barrier(mean)
    change = 2 * (deviations * tangents[0]).sum(axes, keepdims=True)
    return squared_deviations(values, mean, axes), change


def moments_of_valid_rows(
    moments: Method, /, self: Layer, inputs: jax.Array, mask: ArrayLike
) -> tuple[jax.Array, ...]:
    """Wraps `BatchNormalization._moments`: leaves padding out, and sums over replicas if synchronized."""
    synchronized = bool(getattr(self, "synchronized", False))
    rows = rows_of([inputs])
    if not in_replica() or (rows is None and not synchronized):
        # One replica: nothing to synchronize with.
        with with_attributes(self, {"synchronized": False} if synchronized else {}):
            return moments(self, inputs, mask)
    valid = jnp.ones(inputs.shape[:1], bool) if rows is None else rows.rows
    valid = valid.reshape(-1, *[1] * (inputs.ndim - 1))
    if mask is not None:
        valid = valid & jnp.asarray(mask, bool)[..., None]
    axes = tuple(self._reduction_axes)
    # Sum first along axes on which validity is constant, so that the selection is among few sums.
    alike = tuple(axis for axis in axes if valid.shape[axis] == 1)

    def total(sums: jax.Array) -> jax.Array:
        summed = jnp.where(valid, sums, 0).sum(axes)
        return all_reduce(summed) if synchronized else summed

    # At least 1: a replica without rows must not compute NaN, which its weight of 0 would not remove.
    count = jnp.maximum(total(jnp.ones_like(inputs).sum(alike, keepdims=True)), 1)
    mean = total(inputs.sum(alike, keepdims=True)) / count
    shape = [1 if axis in axes else size for axis, size in enumerate(inputs.shape)]
    return mean, total(squared_deviations(inputs, mean.reshape(shape), alike)) / count


def take_synchronized(make: Method, /, self: Layer, *args: object, **kwargs: object) -> None:
    """Wraps `BatchNormalization.__init__`: takes `synchronized=True`, which Keras refuses without TensorFlow."""
    bound = inspect.signature(make).bind(self, *args, **kwargs)
    synchronized = bound.arguments.pop("synchronized", False)
    make(*bound.args, **bound.kwargs)
    self.synchronized = synchronized
