"""`tf.unique` and `tf.unique_with_counts`: the different elements of a vector."""

from typing import Any, NamedTuple, NoReturn

import numpy as np
from jax.core import Tracer

from frontends.tf._typing import DTypeLike, TensorLike
from frontends.tf.data.tracing import run_as_python
from frontends.tf.dtypes import jax_dtype
from frontends.tf.ops.convert import computed_now, convert_to_tensor

_ADVICE = (
    "tf.unique finds a number of elements that only the running program knows. With a number that is enough, "
    "jnp.unique(x, size=n, fill_value=0) has a fixed shape."
)


class Unique(NamedTuple):
    """The different elements in the order in which they come, and for each element of the vector, which one it is."""

    y: Any
    idx: Any


class UniqueWithCounts(NamedTuple):
    """The elements and indices of `Unique`, and how often each element comes."""

    y: Any
    idx: Any
    count: Any


def unique(x: TensorLike, out_idx: DTypeLike = "int32", name: str | None = None) -> Unique:
    """Finds the different elements of a vector, in the order in which they come.

    Programs have fixed shapes: a `tf.function` that asks this of a tensor runs as Python.

    Args:
        x: a vector; texts are fine.
        out_idx: dtype of the indices.

    Returns:
        The elements, and for each entry of `x` the index of its element.

    Raises:
        ValueError: `x` is no vector, or (in a replica) known only to the running program.

    Examples:
        >>> from frontends import tf
        >>> y, idx = tf.unique(tf.constant([3, 1, 3, 2]))
        >>> y.tolist(), idx.tolist()
        ([3, 1, 2], [0, 1, 0, 2])

    Source: `tf.unique`.
    """
    return Unique(*_found(x, out_idx)[:2])


def unique_with_counts(
    x: TensorLike, out_idx: DTypeLike = "int32", name: str | None = None
) -> UniqueWithCounts:
    """Finds the different elements of a vector, and counts them; see `unique`.

    Source: `tf.unique_with_counts`.
    """
    return UniqueWithCounts(*_found(x, out_idx))


def _found(x: TensorLike, out_idx: DTypeLike) -> tuple[Any, Any, Any]:
    with computed_now(x):
        vector = convert_to_tensor(x)
    if vector.ndim != 1:
        raise ValueError(f"tf.unique expects a 1D vector, got shape {tuple(vector.shape)}.")
    if isinstance(vector, Tracer):
        _refuse()
    values = np.asarray(vector)
    _, first, inverse, counts = np.unique(
        values, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    kind = jax_dtype(out_idx)
    return (
        convert_to_tensor(values[first[order]]),
        convert_to_tensor(place[inverse.reshape(-1)].astype(kind)),
        convert_to_tensor(counts[order].astype(kind)),
    )


def _refuse() -> NoReturn:
    run_as_python(_ADVICE)
    raise ValueError(f"{_ADVICE} Or count with tf.math.bincount.")
