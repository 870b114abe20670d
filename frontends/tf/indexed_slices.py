"""`tf.IndexedSlices`: some rows of an array, with their numbers."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, final

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from frontends.tf._typing import DTypeLike, ShapeLike, TensorLike
from frontends.tf.tensor_shape import TensorShape
from spmd.replica import ArrayLike, all_gather, gather_gradients, in_replica, sum_gradients


@final
@jax.tree_util.register_pytree_node_class
@dataclasses.dataclass(eq=False, repr=False)
class IndexedSlices(ArrayLike):
    """Rows of an array, `array[indices[i]] = values[i]`; rows that come twice are added up.

    A tape's gradient with respect to an array of which rows were looked up (`tf.gather`, `tf.nn.embedding_lookup`, Keras's
    `Embedding`) is made of these rows, unless other uses of the array add to it.

    What differs here: arithmetic takes it for the whole array, where TensorFlow's operators refuse numbers.

    Args:
        values: the rows, of shape `(n, ...)`.
        indices: their numbers, integers of shape `(n,)`. The number behind the array's last row stands for no row, where
            the number of rows is known only when the program runs.
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

    @property
    def shape(self) -> TensorShape:
        """Shape of the whole array."""
        return TensorShape(None if self.dense_shape is None else [int(n) for n in self.dense_shape])

    def with_values(self, function: Callable[[jax.Array], Any]) -> "IndexedSlices":
        """Returns slices of the same rows, with other values.

        Args:
            function: makes these of the values.
        """
        return IndexedSlices(function(jnp.asarray(self.values)), self.indices, self.dense_shape)

    def __neg__(self) -> "IndexedSlices":
        return IndexedSlices(-self.values, self.indices, self.dense_shape)

    def __jax_array__(self) -> jax.Array:
        if self.dense_shape is None:
            raise ValueError(
                f"{self!r} has no dense_shape, so it cannot become an array. Say how large that is: "
                "tf.IndexedSlices(values, indices, dense_shape=[rows, columns])."
            )
        whole = jnp.zeros(tuple(int(size) for size in self.dense_shape), self.dtype)
        # A number that stands for no row is left out.
        return whole.at[jnp.asarray(self.indices)].add(self.values, mode="drop")

    def __array__(self, dtype: DTypeLike = None, copy: bool | None = None) -> np.ndarray:
        del copy
        return np.asarray(self.__jax_array__(), dtype)

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


def array_or_slices(value: TensorLike) -> Any:
    """Returns slices as they are, and an array of others."""
    return value if is_slices(value) else jnp.asarray(value)


def on_values(function: Callable[..., Any], value: TensorLike) -> Any:
    """Applies a function to the values of slices, or to an array."""
    return value.with_values(function) if is_slices(value) else function(value)


def summed(gradients: Sequence[Any]) -> list[Any]:
    """Sums gradients over the replicas, in a replica: arrays, and slices, of which each replica gets all.

    Args:
        gradients: this replica's.
    """
    if not in_replica():
        return list(gradients)
    dense = iter(sum_gradients([one for one in gradients if not is_slices(one)]))
    return [_gathered(one) if is_slices(one) else next(dense) for one in gradients]


def _gathered(slices: IndexedSlices) -> IndexedSlices:
    values, indices = gather_gradients(jnp.asarray(slices.values), jnp.asarray(slices.indices))
    return IndexedSlices(values, indices, slices.dense_shape)


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
