"""`tf.IndexedSlices`: some rows of an array, with their numbers."""

import dataclasses
from collections.abc import Sequence
from typing import Any, final

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from frontends.tf._typing import ShapeLike, TensorLike
from spmd.replica import all_gather


@final
@jax.tree_util.register_pytree_node_class
@dataclasses.dataclass(eq=False, repr=False)
class IndexedSlices:
    """Rows of an array, `array[indices[i]] = values[i]`; rows that come twice are added up.

    Gradients are dense arrays here, embeddings' as well; this is for code that makes such rows itself.

    Args:
        values: the rows, of shape `(n, ...)`.
        indices: their numbers, integers of shape `(n,)`.
        dense_shape: shape of the whole array, if known.

    Examples:
        >>> import jax.numpy as jnp
        >>> rows = IndexedSlices(jnp.ones((1, 2)), jnp.array([1]), dense_shape=(3, 2))
        >>> jnp.asarray(rows).tolist()
        [[0.0, 0.0], [1.0, 1.0], [0.0, 0.0]]

    Source: `tf.IndexedSlices`.
    """

    values: TensorLike
    indices: TensorLike
    dense_shape: TensorLike = None

    @property
    def dtype(self) -> Any:
        """Type of the rows' elements."""
        return self.values.dtype

    def __neg__(self) -> "IndexedSlices":
        return IndexedSlices(-self.values, self.indices, self.dense_shape)

    def __jax_array__(self) -> jax.Array:
        if self.dense_shape is None:
            raise ValueError(
                f"{self!r} has no dense_shape, so it cannot become an array. Say how large that is: "
                "tf.IndexedSlices(values, indices, dense_shape=[rows, columns])."
            )
        whole = jnp.zeros(tuple(int(size) for size in self.dense_shape), self.dtype)
        return whole.at[self.indices].add(self.values)

    def __repr__(self) -> str:
        shape = "" if self.dense_shape is None else f", dense_shape={self.dense_shape!r}"
        return f"IndexedSlices(indices={self.indices!r}, values={self.values!r}{shape})"

    def tree_flatten(self) -> tuple[Any, Any]:
        """Takes it apart, for JAX; a program is made for one shape of the whole array, if it is known."""
        shape = self.dense_shape
        if shape is None:
            return (self.values, self.indices), None
        if isinstance(shape, (tuple, list, np.ndarray, jax.Array)) and not isinstance(
            shape, Tracer
        ):
            return (self.values, self.indices), tuple(map(int, shape))
        return (self.values, self.indices, shape), None  # what a trace made

    @classmethod
    def tree_unflatten(cls, shape: ShapeLike, children: Sequence[TensorLike]) -> "IndexedSlices":
        """Puts it together, for JAX."""
        values, indices, *traced = children
        return cls(values, indices, traced[0] if traced else shape)


def is_slices(value: object) -> bool:
    """Tells whether a value is an `IndexedSlices`."""
    return isinstance(value, IndexedSlices)


def all_reduced(slices: IndexedSlices, op: str, replicas: int) -> IndexedSlices:
    """Combines the rows of all replicas; a row that several have comes as often.

    Args:
        slices: one replica's.
        op: `"sum"` or `"mean"`.
        replicas: how many there are.
    """
    values = all_gather(jnp.asarray(slices.values), axis=0)
    return IndexedSlices(
        values / replicas if op == "mean" else values,
        all_gather(jnp.asarray(slices.indices), axis=0),
        slices.dense_shape,
    )
