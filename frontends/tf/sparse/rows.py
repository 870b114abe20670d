"""Sparse matrices of rows that differ in length, as records, crosses and decoders have them."""

from collections.abc import Sequence

import numpy as np

from frontends.tf.sparse.sparse_tensor import SparseTensor


def sparse_of_rows(flat: np.ndarray, lengths: Sequence[int] | np.ndarray) -> SparseTensor:
    """Makes a sparse matrix as wide as its longest row.

    Args:
        flat: the values of all rows, one row after the other.
        lengths: how many of them each row has.

    Examples:
        >>> from frontends import tf
        >>> print(tf.sparse.to_dense(sparse_of_rows(np.array([1, 2, 3]), [1, 2])))
        [[1 0]
         [2 3]]
    """
    counts = np.asarray(lengths, np.int64)
    places = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    indices = np.stack([np.repeat(np.arange(len(counts)), counts), places], axis=1)
    return SparseTensor(indices, flat, [len(counts), counts.max(initial=0)])
