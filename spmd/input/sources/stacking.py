"""Single rows stacked to batches."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

import jax
import numpy as np

from spmd.errors import BatchError
from spmd.input.batch import in_groups, leaf_name
from spmd.input.sources.base import closing

T = TypeVar("T")


def stack_rows(rows: Sequence[T]) -> T:
    """Stacks rows of one structure into a batch.

    Args:
        rows: pytrees of arrays and numbers, one at least.

    Returns:
        The same structure of arrays, with the rows along a new first axis.

    Raises:
        BatchError: structures or shapes differ.

    Examples:
        >>> stack_rows([{"x": 1, "y": [0.0, 0.5]}, {"x": 2, "y": [1.0, 1.5]}])
        {'x': array([1, 2]), 'y': [array([0., 1.]), array([0.5, 1.5])]}
    """
    flat = [jax.tree.flatten(row) for row in rows]
    structure = flat[0][1]
    for _, found in flat:
        if found != structure:
            raise BatchError(
                f"The rows of a batch need one structure: expected {structure}, as in the batch's "
                f"first row, but another row is {found}."
            )
    stacked: list[np.ndarray] = []
    for index, column in enumerate(zip(*(leaves for leaves, _ in flat), strict=True)):
        arrays = list(map(np.asarray, column))
        shapes = sorted({array.shape for array in arrays})
        if len(shapes) > 1:
            raise BatchError(
                f"The rows of {leaf_name(rows[0], index)} need one shape to be stacked, but have "
                f"{', '.join(map(str, shapes))}. Resize, crop or pad them in the source."
            )
        stacked.append(np.stack(arrays))
    return jax.tree.unflatten(structure, stacked)


def stack_in_batches(rows: Iterable[T], batch_size: int) -> Iterator[T]:
    """Stacks every `batch_size` rows into a batch; the last may have fewer.

    Args:
        rows: see `stack_rows`; its iterator is closed at the end, if it can be.
        batch_size: rows of a full batch.

    Yields:
        Batches.
    """
    with closing(iter(rows)) as iterator:
        yield from map(stack_rows, in_groups(iterator, [batch_size]))
