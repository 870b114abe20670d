"""Single rows stacked to batches."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

import jax
import numpy as np

from spmd.errors import BatchError
from spmd.input.batch import leaf_name

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
    structure = jax.tree.structure(rows[0])
    columns: list[list[Any]] = [[] for _ in range(structure.num_leaves)]
    for row in rows:
        leaves, found = jax.tree.flatten(row)
        if found != structure:
            raise BatchError(
                f"The rows of a batch need one structure: expected {structure}, as in the batch's "
                f"first row, but another row is {found}."
            )
        for column, leaf in zip(columns, leaves, strict=True):
            column.append(np.asarray(leaf))
    for index, column in enumerate(columns):
        shapes = sorted({leaf.shape for leaf in column})
        if len(shapes) > 1:
            raise BatchError(
                f"The rows of {leaf_name(rows[0], index)} need one shape to be stacked, but have "
                f"{', '.join(map(str, shapes))}. Resize, crop or pad them in the source."
            )
    return jax.tree.unflatten(structure, [np.stack(column) for column in columns])


def stack_in_batches(rows: Iterable[T], batch_size: int) -> Iterator[T]:
    """Stacks every `batch_size` rows into a batch; the last may have fewer.

    Args:
        rows: see `stack_rows`; its iterator is closed at the end, if it can be.
        batch_size: rows of a full batch.

    Yields:
        Batches.
    """
    iterator = iter(rows)
    try:
        while batch := list(islice(iterator, batch_size)):
            yield stack_rows(batch)
    finally:
        close = getattr(iterator, "close", None)
        if close is not None:
            close()
