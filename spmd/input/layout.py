"""Which rows of a batch go to which replica.

A batch of L rows is dealt out to N replicas as TensorFlow does it: each gets the next `ceil(L / N)`
rows, so the first replicas are served first and the last ones may get fewer, or none. A replica's
*block* has as many rows as its share of a full batch; after its valid rows, it repeats the last row of
the batch, so that arithmetic on padding stays finite.
"""

import dataclasses

import numpy as np


def share(rows: int, replicas: int) -> int:
    """Returns the rows of the first replica, `ceil(rows / replicas)`."""
    return -(-rows // replicas)


@dataclasses.dataclass(frozen=True)
class RowLayout:
    """How the rows of one batch lie in the replicas' blocks.

    Attributes:
        rows: rows of the batch, at least 1.
        replicas: number of blocks.
        rows_per_replica: rows of a block, at least `share(rows, replicas)`.

    Examples:
        >>> layout = RowLayout(rows=5, replicas=4, rows_per_replica=2)
        >>> layout.counts
        (2, 2, 1, 0)
        >>> layout.row_index.tolist()
        [0, 1, 2, 3, 4, 4, 4, 4]

    Source: `tf.distribute.Strategy.experimental_distribute_dataset`, on the last batch.
    """

    rows: int
    replicas: int
    rows_per_replica: int

    @property
    def counts(self) -> tuple[int, ...]:
        """Valid rows of every block."""
        size = share(self.rows, self.replicas)
        return tuple(min(size, max(0, self.rows - r * size)) for r in range(self.replicas))

    @property
    def mask(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Whether each row of the blocks is valid; shape `(replicas * rows_per_replica,)`."""
        return (np.arange(self.rows_per_replica) < np.array(self.counts)[:, None]).reshape(-1)

    @property
    def is_identity(self) -> bool:
        """Whether the blocks, one after the other, are the batch as it is."""
        return self.rows == self.replicas * self.rows_per_replica

    @property
    def row_index(self) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
        """The batch's row at each row of the blocks; shape `(replicas * rows_per_replica,)`."""
        first = np.arange(self.replicas)[:, None] * share(self.rows, self.replicas)
        index = first + np.arange(self.rows_per_replica)
        return np.where(self.mask, index.reshape(-1), self.rows - 1)
