"""Which rows of a batch go to which replica, and which batch an array's rows belong to.

A global batch of L rows is dealt out to N replicas as TensorFlow does it: each gets the next `ceil(L / N)`
rows, so the first replicas are served first and the last ones may get fewer, or none. A replica's
*block* has as many rows as its share of a full batch; after its valid rows, it repeats the last row of
the batch, so that arithmetic on padding stays finite.
"""

import dataclasses
from collections.abc import Iterable

import numpy as np

from spmd.replica.context import BlockMask


def masks_of_length(masks: Iterable[BlockMask], rows: int) -> list[BlockMask]:
    """Finds the batches that an array with so many rows may belong to.

    An array inside a step does not say where its rows come from, so its length has to tell. Whoever needs the
    answer asks here, and decides what to do if several batches fit.

    Args:
        masks: of the batches that the replica received.
        rows: length of the array's first axis.

    Examples:
        >>> import jax.numpy as jnp
        >>> masks = [BlockMask(jnp.ones(size, bool), ()) for size in (2, 3, 3)]
        >>> [len(masks_of_length(masks, rows)) for rows in (1, 2, 3)]
        [0, 1, 2]
    """
    return [mask for mask in masks if mask.rows.shape[0] == rows]


def share(rows: int, replicas: int) -> int:
    """Returns the rows of the first replica, `ceil(rows / replicas)`."""
    return -(-rows // replicas)


def deal(rows: int, replicas: int) -> tuple[int, ...]:
    """Deals the rows of a global batch out to replicas.

    Args:
        rows: rows of the batch.
        replicas: how many replicas there are.

    Returns:
        The number of rows that each replica gets.

    Examples:
        >>> deal(5, 4)
        (2, 2, 1, 0)

    Source: `tf.distribute.Strategy.experimental_distribute_dataset`, on the last batch.
    """
    size = share(rows, replicas)
    return tuple(min(size, max(0, rows - replica * size)) for replica in range(replicas))


@dataclasses.dataclass(frozen=True)
class RowLayout:
    """How the rows of one batch lie in the replicas' blocks.

    Attributes:
        counts: valid rows of every block, at least 1 together.
        rows_per_replica: rows of a block, at least the largest count.

    Examples:
        >>> RowLayout(deal(5, 4), rows_per_replica=2).row_index.tolist()
        [0, 1, 2, 3, 4, 4, 4, 4]
    """

    counts: tuple[int, ...]
    rows_per_replica: int

    @property
    def mask(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Whether each row of the blocks is valid; shape `(replicas * rows_per_replica,)`."""
        return (np.arange(self.rows_per_replica) < np.array(self.counts)[:, None]).reshape(-1)

    @property
    def is_identity(self) -> bool:
        """Whether the blocks, one after the other, are the batch as it is."""
        return min(self.counts) == self.rows_per_replica

    @property
    def row_index(self) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
        """The batch's row at each row of the blocks; shape `(replicas * rows_per_replica,)`."""
        ends = np.cumsum(self.counts)
        first = ends - self.counts
        index = first[:, None] + np.arange(self.rows_per_replica)
        return np.where(self.mask, index.reshape(-1), ends[-1] - 1)
