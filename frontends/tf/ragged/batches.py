"""Batches of elements whose sizes differ, as ragged tensors."""

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from frontends.tf.ragged.ragged_tensor import RaggedTensor, stacked_rows
from spmd.input.pipeline import is_stackable, stack


def ragged_stack(elements: Sequence[Any], same_sizes: bool) -> Any:
    """Makes a batch of elements.

    Args:
        elements: at least one, of one structure.
        same_sizes: whether arrays have the same sizes in all elements of the dataset, so that they become an array.

    Raises:
        TypeError: the elements differ in structure.
    """
    structure = jax.tree.structure(elements[0])
    if any(jax.tree.structure(one) != structure for one in elements):
        return stack(elements)  # which says what is wrong
    columns = zip(*map(jax.tree.leaves, elements), strict=True)
    return structure.unflatten([_stacked(column, same_sizes) for column in columns])


def _stacked(column: Sequence[Any], same_sizes: bool) -> Any:
    first = column[0]
    if is_stackable(first) or not isinstance(first, np.ndarray) or not first.ndim or same_sizes:
        return stack(column)
    if first.ndim == 1:
        return stacked_rows(column)
    rows = [RaggedTensor.from_tensor(one, ragged_rank=one.ndim - 1) for one in column]
    return rows[0].stacked(rows[1:])
