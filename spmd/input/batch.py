"""A batch before it is placed: a structure of arrays with equally many rows."""

import dataclasses
import functools
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias, TypeVar, cast

import jax
import jax.numpy as jnp
import numpy as np

from spmd.errors import BatchError
from spmd.replica import is_per_replica, is_text
from spmd.typing import AnyArray, ArrayLike, PyTree, Structure

T = TypeVar("T")
# An array with rows; or the description of one, which is treated alike until the batch is placed.
RowArray: TypeAlias = AnyArray


@dataclasses.dataclass(frozen=True)
class Batch:
    """A batch, flattened.

    Attributes:
        leaves: NumPy or JAX arrays, or descriptions of arrays; the first axis counts rows. Texts are objects.
        structure: of the batch.
        rows: how many rows each has; of scalars alone, 1.
        scalars: positions of the leaves that have no rows.
    """

    leaves: Sequence[RowArray]
    structure: Structure
    rows: int
    scalars: tuple[int, ...] = ()

    def owned(self) -> "Batch":
        """Copies the batch, so that its source may overwrite the original."""
        leaves = [leaf if isinstance(leaf, jax.Array) else np.array(leaf) for leaf in self.leaves]
        return dataclasses.replace(self, leaves=leaves)

    def rebuild(self, leaves: Sequence[Any]) -> PyTree:
        """Puts other leaves into the batch's structure."""
        return jax.tree.unflatten(self.structure, leaves)

    def leaf_name(self, index: int) -> str:
        """Names a leaf; see the function `leaf_name`."""
        return leaf_name(self.rebuild(self.leaves), index)


def read_batch(tree: PyTree, *, texts: bool = False, scalars: bool = False) -> Batch:
    """Flattens a batch, and checks that it has rows and that devices can hold it.

    Args:
        tree: a pytree of arrays `(rows, ...)`, or of anything that NumPy can read as one, such as the
            tensors of other libraries.
        texts: whether it may hold texts as well, which stay in host memory.
        scalars: whether it may hold scalars, which are not split.

    Returns:
        Its parts; no array is copied.

    Raises:
        BatchError: there is no array, a leaf does not hold numbers or has no batch axis, or the
            numbers of rows differ.

    Examples:
        >>> read_batch({"x": np.ones((4, 3)), "y": np.arange(4)}).rows
        4
    """
    found, structure = jax.tree.flatten(tree, is_leaf=is_per_replica)
    if not found:
        raise BatchError(
            f"Expected a batch of arrays, but this one has no array: {structure}. "
            "Yield an array, or a tuple or dict of arrays."
        )
    leaves = [_array(leaf, tree, index, texts) for index, leaf in enumerate(found)]
    without_rows = [index for index, leaf in enumerate(leaves) if leaf.ndim == 0]
    first = next((index for index, leaf in enumerate(leaves) if leaf.ndim), None)
    for index, leaf in enumerate(leaves):
        if leaf.ndim == 0:
            if scalars:
                continue
            raise BatchError(
                f"{leaf_name(tree, index)} is a scalar ({leaf.dtype}): it has no batch axis to split "
                "over the replicas. Batch it first: .batch(global_batch_size)."
            )
        if first is not None and leaf.shape[0] != leaves[first].shape[0]:
            raise BatchError(
                "All arrays of a batch need the same number of rows, but "
                f"{leaf_name(tree, first)} has {leaves[first].shape[0]} and {leaf_name(tree, index)} has "
                f"{leaf.shape[0]}. The first axis of every array must count the batch's rows; if "
                "these are single examples, batch them first: .batch(global_batch_size)."
            )
    rows = 1 if first is None else leaves[first].shape[0]
    return Batch(leaves, structure, rows, tuple(without_rows))


def in_groups(
    items: Iterable[T], sizes: Sequence[int], drop_remainder: bool = False
) -> Iterator[list[T]]:
    """Yields lists of the next items.

    Args:
        items: what to take them from.
        sizes: how many items a list has: the sizes take turns.
        drop_remainder: leave out a shorter list at the end.

    Examples:
        >>> list(in_groups(range(7), [2, 3]))
        [[0, 1], [2, 3, 4], [5, 6]]
    """
    items = iter(items)
    for size in itertools.cycle(sizes):
        group = list(itertools.islice(items, size))
        if len(group) == size or (group and not drop_remainder):
            yield group
        if len(group) < size:
            return


def integers_fit(array: AnyArray | np.generic, dtype: np.dtype) -> bool:
    """Tells whether a dtype holds an array's values, as far as they are integers that it could cut off."""
    if dtype.kind not in "iu" or dtype == array.dtype or not array.size:
        return True
    least, most = _limits(dtype)
    if isinstance(array, np.generic):
        return least <= int(array) <= most
    return least <= int(array.min()) and int(array.max()) <= most


@functools.cache
def _limits(dtype: np.dtype) -> tuple[int, int]:
    limits = np.iinfo(dtype)
    return limits.min, limits.max


def leaf_name(tree: PyTree, index: int) -> str:
    """Names a leaf of a batch by its path, such as `batch['image']`."""
    path, _ = jax.tree_util.tree_leaves_with_path(tree, is_leaf=is_per_replica)[index]
    return f"batch{jax.tree_util.keystr(path)}"


def _array(leaf: ArrayLike, tree: PyTree, index: int, texts: bool) -> RowArray:
    if is_per_replica(leaf):
        raise BatchError(
            f"{leaf_name(tree, index)} is already split over the replicas. Distribute a data source "
            "once, and iterate over the result."
        )
    if not isinstance(leaf, np.ndarray | jax.Array | jax.ShapeDtypeStruct):
        leaf = np.asarray(leaf)
    if texts and isinstance(leaf, np.ndarray) and is_text(leaf):
        return leaf.astype(object)  # texts of any length
    if not (jnp.issubdtype(leaf.dtype, np.number) or leaf.dtype == np.bool_):
        raise BatchError(
            f"Devices hold numbers and booleans, but {leaf_name(tree, index)} has elements of type "
            f"{leaf.dtype}. Encode it as numbers, or leave it out of the batch."
        )
    return cast(RowArray, leaf)
