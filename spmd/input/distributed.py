"""`distribute`: a data source becomes an iterable of batches on the devices."""

import contextlib
import itertools
import operator
from collections.abc import Generator, Iterable, Iterator
from typing import Any, final

import jax
from jax.sharding import Mesh

from spmd.errors import BatchError, MeshError
from spmd.input.batch import Batch, read_batch
from spmd.input.placement import BatchPlacer
from spmd.input.prefetch import BatchIterator, DirectIterator, PrefetchIterator
from spmd.input.sources import Source, find_source
from spmd.input.sources.base import count_batches
from spmd.mesh import make_mesh, num_replicas


def distribute(
    source: Any,
    mesh: Mesh | None = None,
    *,
    batch_size: int | None = None,
    drop_remainder: bool = False,
    per_replica: bool = False,
    prefetch: int = 2,
) -> "DistributedInput":
    """Splits the batches of a data source over the replicas, on the devices ahead of use.

    A batch of L rows goes to N replicas by `ceil(L / N)` rows each, the first replicas first, the rest
    fewer or none. Every replica's block has as many rows as its share of a full batch, so that one
    program fits all; padding rows repeat the batch's last row, and `PerReplica.mask` tells them apart
    (see `valid_rows`). A batch that is larger than any before it raises the size of a full one.

    The sources, and what `batch_size` means for them:

    * NumPy or JAX arrays, and tuples, dicts and other pytrees of them, all with one row per example:
      `batch_size` is needed. (A list is one only if `batch_size` is given, else it is a list of
      batches.)
    * Data with random access to its rows, by `len()` and `[index]`, such as `tfds.data_source`:
      `batch_size` is needed; the rows are stacked.
    * Grain's `MapDataset`, `IterDataset` and `DataLoader`: `batch_size` if they give single rows,
      which are then stacked; none if they give batches.
    * A `tf.data.Dataset` or a Keras `PyDataset`: they give batches, so no `batch_size`.
    * Any other iterable of batches, or a function that returns an iterator over batches and is called
      anew for every pass: no `batch_size`. An iterator can be passed over once.

    Starts the backend, but reads nothing of the source yet. Each pass runs the source on a thread named
    `spmd-input`, unless `prefetch` is 0.

    Args:
        source: where batches come from; each is a pytree of arrays of shape `(rows, ...)`.
        mesh: whose replicas share a batch; None takes all devices of the default platform.
        batch_size: rows of a full batch, over all replicas, for a source of single rows.
        drop_remainder: leave out batches of fewer rows than a full one.
        per_replica: the source's batches are one replica's, not global: each replica takes the next.
            At the end of a pass the last replicas may get none; `drop_remainder` leaves such a step
            out.
        prefetch: how many batches may wait on the devices; 0 makes each when it is asked for.

    Returns:
        An iterable; every iteration is a new pass over the source. It yields the source's batches, with
        a `PerReplica` for every array. Reading raises `BatchError` for a batch that cannot be split:
        an array without a batch axis, of other elements than numbers, with integers that do not fit
        into 32 bits while JAX's 64-bit types are off, with another number of rows than the others; or
        a structure that changes. Errors of the source itself come out of the loop as they are.

    Raises:
        BatchError: the source is of no known kind, or `batch_size` is missing, below 1, or given for a
            source of batches.
        MeshError: several processes run; each would have to read its own share, which is not built yet.
        TypeError: `batch_size` or `prefetch` is not an integer.
        ValueError: `prefetch` is negative.

    Examples:
        >>> import numpy as np, spmd
        >>> mesh = spmd.make_mesh(["cpu:0"])
        >>> data = {"x": np.arange(5, dtype=np.float32), "y": np.arange(5)}
        >>> for batch in spmd.distribute(data, mesh, batch_size=4):
        ...     print(batch["y"], batch["y"].mask.counts)
        PerReplica(0: [0, 1, 2, 3]) (4,)
        PerReplica(0: [4]) (1,)

    Source: `tf.distribute.Strategy.experimental_distribute_dataset`.
    """
    batch_size = None if batch_size is None else operator.index(batch_size)
    if batch_size is not None and batch_size < 1:
        raise BatchError(f"batch_size must be 1 at least, but is {batch_size}.")
    if operator.index(prefetch) < 0:
        raise ValueError(f"prefetch must be 0 (no thread) or more, but is {prefetch}.")
    found = find_source(source, batch_size)
    mesh = make_mesh() if mesh is None else mesh
    if jax.process_count() > 1:
        raise MeshError(
            f"spmd.distribute works in one process so far, but {jax.process_count()} run. Place each "
            "process's rows with jax.make_array_from_process_local_data."
        )
    return DistributedInput(
        found, mesh, drop_remainder=drop_remainder, per_replica=per_replica, prefetch=prefetch
    )


@final
class DistributedInput(Iterable[Any]):
    """Batches on the devices, split over the replicas; `distribute` makes it.

    Examples:
        >>> import numpy as np, spmd
        >>> batches = spmd.distribute(np.ones((10, 3)), spmd.make_mesh(["cpu:0"]), batch_size=4)
        >>> len(batches), batches.batch_size, batches.rows_per_replica
        (3, 4, 4)

    Source: `tf.distribute.DistributedDataset`.
    """

    def __init__(
        self,
        source: Source,
        mesh: Mesh,
        *,
        drop_remainder: bool,
        per_replica: bool,
        prefetch: int,
    ) -> None:
        """Makes the iterable; reads nothing yet.

        Args:
            source: where batches come from.
            mesh: whose replicas share a batch.
            drop_remainder: leave out batches of fewer rows than a full one.
            per_replica: whether the source's batches are one replica's.
            prefetch: how many batches may wait on the devices.
        """
        self._source = source
        self._replicas_at_once = num_replicas(mesh) if per_replica else None
        self._placer = BatchPlacer(mesh, source.full_batch_rows, drop_remainder, per_replica)
        self._drop_remainder = drop_remainder
        self._prefetch = prefetch

    @property
    def batch_size(self) -> int | None:
        """Rows of a full batch over all replicas; None if that is known after the first batch only."""
        rows = self._placer.full_rows
        return rows if rows is None else rows * (self._replicas_at_once or 1)

    @property
    def rows_per_replica(self) -> int | None:
        """Rows of a replica's block, padding included; None if unknown before the first batch."""
        return self._placer.rows_per_replica

    def __iter__(self) -> BatchIterator:
        batches = self._batches(x64=bool(jax.enable_x64.value))
        return (
            PrefetchIterator(batches, self._prefetch) if self._prefetch else DirectIterator(batches)
        )

    def __len__(self) -> int:
        single = self._replicas_at_once is None
        count = self._source.num_batches(self._drop_remainder and single)
        if count is None:
            raise TypeError(
                "The number of batches is not known before they are read: the source does not tell it, "
                "or is endless, or drop_remainder=True may drop some."
            )
        if self._replicas_at_once is None:
            return count
        return count_batches(count, self._replicas_at_once, self._drop_remainder)

    def __repr__(self) -> str:
        return (
            f"DistributedInput({self._source!r}, batch_size={self.batch_size}, "
            f"rows_per_replica={self.rows_per_replica})"
        )

    def _batches(self, *, x64: bool) -> Generator[Any, None, None]:
        iterator = self._source.batches()
        with contextlib.ExitStack() as stack:
            # Not every iterator can be closed; a generator must be, to run its `finally` now.
            close = getattr(iterator, "close", None)
            if callable(close):
                stack.callback(close)
            if self._replicas_at_once is None:
                steps = (self._placer.place(batch, x64=x64) for batch in iterator)
            else:
                # Read at once, since a source may fill the same memory with its next batch.
                batches = (read_batch(batch).owned() for batch in iterator)
                groups = _in_groups(batches, self._replicas_at_once)
                steps = (self._placer.place_each(group, x64=x64) for group in groups)
            yield from (step for step in steps if step is not None)


def _in_groups(iterator: Iterator[Batch], size: int) -> Iterator[list[Batch]]:
    while group := list(itertools.islice(iterator, size)):
        yield group
