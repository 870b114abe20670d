"""Texts that a program gives, such as names of classes: it chooses them by their numbers, and the host has the texts."""

from collections.abc import Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf._shaped_texts import ShapedTexts
from frontends.tf.data.host_arrays import shown
from frontends.tf.dtypes import DType, as_dtype


@jax.tree_util.register_pytree_node_class
class ClassNames(ShapedTexts):
    """Texts of a list, of which devices hold the positions.

    It is a pytree, so a step can return it; as an array of NumPy it has the texts, as bytes.

    Attributes:
        ids: positions in the list, integers of any shape.
        names: the list.

    Examples:
        >>> np.asarray(ClassNames(jnp.array([[1], [0]]), ("no", "yes"))).tolist()
        [[b'yes'], [b'no']]
    """

    __slots__ = ("ids", "names")

    def __init__(self, ids: Any, names: Sequence[str]) -> None:
        """Chooses names by their positions."""
        self.ids, self.names = ids, tuple(names)

    @property
    def shape(self) -> tuple[int, ...]:
        """That of the positions."""
        return tuple(self.ids.shape)

    @property
    def dtype(self) -> DType:
        """`tf.string`."""
        return as_dtype("string")

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: Any) -> "ClassNames":
        return ClassNames(self.ids[index], self.names)

    def __iter__(self) -> Iterator["ClassNames"]:
        return (self[index] for index in range(len(self)))  # JAX knows no index that is too large

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        names: np.ndarray[Any, Any] = np.array([name.encode() for name in self.names], object)
        return np.take(names, np.asarray(self.ids)[...], out=np.empty(self.shape, object))

    def numpy(self) -> Any:
        """The texts, as bytes, outside of programs."""
        return shown(np.asarray(self)).numpy()

    def __repr__(self) -> str:
        return f"ClassNames(shape={self.shape}, names={self.names})"

    def tree_flatten(self) -> tuple[tuple[Any], tuple[str, ...]]:
        """Takes it apart for JAX."""
        return (self.ids,), self.names

    @classmethod
    def tree_unflatten(cls, names: tuple[str, ...], children: tuple[Any]) -> "ClassNames":
        """Puts it together again."""
        return cls(*children, names)


def of_numbers(count: int) -> tuple[str, ...]:
    """Names classes by their numbers."""
    return tuple(map(str, range(count)))


def all_ids(rows: int, count: int) -> jax.Array:
    """Returns the numbers of all classes for each row, `[rows, count]`."""
    return jnp.tile(jnp.arange(count, dtype=jnp.int32), (rows, 1))
