"""Batches placed on the devices, each replica's rows on its own.

The structure of a source's batches and the rows of a full one, which programs are compiled for, are learned once
and kept over all passes. Two passes at once, on two threads, share both.
"""

import threading
from collections.abc import Sequence
from typing import NamedTuple

import jax
import numpy as np
from jax.sharding import Mesh

from spmd.errors import BatchError
from spmd.input.batch import Batch, RowArray, integers_fit, read_batch
from spmd.input.device_map import DeviceMap
from spmd.replica import HostPerReplica, PerReplica, RowLayout, RowMask, deal, share
from spmd.topology import layout_of, logs_placements, place, place_all, place_own
from spmd.typing import PyTree, Structure


class Share(NamedTuple):
    """What one process has of a step.

    Attributes:
        batch: its rows.
        counts: rows of each of its replicas.
        rows_per_replica: rows of a block that its full batches need.
        full: whether nothing is missing: no row of a full batch, no batch of a replica.
    """

    batch: Batch
    counts: tuple[int, ...]
    rows_per_replica: int
    full: bool


class BatchPlacer:
    """Places the batches of one source on a mesh; safe to use from several threads.

    Attributes:
        full_rows: rows of a full batch, or None before the first batch.
        own_replicas: how many replicas this process has.
    """

    def __init__(
        self,
        mesh: Mesh,
        full_rows: int | None,
        drop_remainder: bool = False,
        finish: DeviceMap | None = None,
        scalars: bool = False,
        for_one_step: bool = False,
    ) -> None:
        """Makes a placer; touches no device.

        Args:
            mesh: where batches go.
            full_rows: rows of a full batch, or None to take those of the largest so far.
            drop_remainder: leave out global batches of fewer rows.
            finish: makes another batch, of as many rows, from a placed one.
            scalars: whether batches may hold scalars, which are one replica's.
            for_one_step: whether each batch is for one step on the mesh. The program of a single device takes it from
                the host: for a small batch, a transfer of its own takes longer to start.
        """
        self._layout = layout_of(mesh)
        self._replicas = self._layout.replicas
        self.own_replicas = self._layout.local_replicas
        self._drop_remainder = drop_remainder
        self._finish = finish
        self._scalars = scalars
        self._stays = for_one_step and finish is None and mesh.size == 1
        self._lock = threading.Lock()
        self.full_rows = full_rows
        self._structure: Structure = None
        self._last_mask: tuple[RowLayout, jax.Array] | None = None

    def place(self, tree: PyTree, *, x64: bool) -> PyTree | None:
        """Puts a global batch on the devices; does not wait for the transfer.

        Args:
            tree: the batch.
            x64: whether 64-bit types stay as they are. JAX keeps this per thread, and the thread
                that places is not the one that trains.

        Returns:
            The batch with a `PerReplica` for every array, or None if it is empty or dropped.

        Raises:
            BatchError: the batch cannot be split, has another structure than those before, or has
                integers that do not fit.
        """
        mine = self.dealt(self.read(tree), self._replicas)
        if mine is None or (self._drop_remainder and not mine.full):
            return None
        return self.put_share(mine, mine.counts, mine.rows_per_replica, x64=x64)

    def read(self, tree: PyTree) -> Batch:
        """Flattens a batch; see `read_batch`. Texts are no input of a function that the devices apply."""
        is_plain = self._needed_finish() is None
        return read_batch(tree, texts=is_plain, scalars=self._scalars and is_plain)

    def _needed_finish(self) -> DeviceMap | None:
        return self._finish if self._finish is not None and self._finish.is_needed() else None

    def dealt(self, batch: Batch, replicas: int) -> Share | None:
        """Deals the rows of a batch out to replicas.

        Args:
            batch: the batch.
            replicas: how many; all, or those of this process.

        Returns:
            What these replicas have of a step, or None if the batch is empty.

        Raises:
            BatchError: the batch has another structure than those before.
        """
        if batch.rows == 0:
            return None
        full = self._learn(batch)
        counts = deal(batch.rows, replicas)
        return Share(batch, counts, share(full, replicas), batch.rows == full)

    def share_of_each(self, batches: Sequence[Batch]) -> Share | None:
        """Puts together one batch for each replica of this process.

        Args:
            batches: at most one for each replica; replicas without one get no rows.

        Returns:
            What this process has of a step, or None if the batches are empty.

        Raises:
            BatchError: as for `dealt`; or the replicas' batches have different shapes or types.
        """
        counts = [batch.rows for batch in batches]
        if sum(counts) == 0:
            return None
        block = max(map(self._learn, batches))
        columns = list(zip(*(batch.leaves for batch in batches), strict=True))
        for index, column in enumerate(columns):
            kinds = {(str(leaf.dtype), leaf.shape[1:]) for leaf in column}
            if len(kinds) > 1:
                found = ", ".join(f"{dtype}{list(shape)}" for dtype, shape in sorted(kinds))
                raise BatchError(
                    f"The replicas' batches of one step need rows of one shape and type, but those of "
                    f"{batches[0].leaf_name(index)} are {found}. Make them equal in the pipeline."
                )
        missing = self.own_replicas - len(counts)
        whole = Batch(
            [
                np.array([*column, *[_nothing_like(column[0])] * missing])
                if index in batches[0].scalars
                else np.concatenate(column)
                for index, column in enumerate(columns)
            ],
            batches[0].structure,
            sum(counts),
            batches[0].scalars,
        )
        return Share(whole, (*counts, *[0] * missing), block, not missing)

    def put_share(
        self, mine: Share, counts: tuple[int, ...], rows_per_replica: int, *, x64: bool
    ) -> PyTree:
        """Puts this process's part of a step on its devices; does not wait for the transfer.

        Args:
            mine: the part.
            counts: rows of all replicas, those of other processes included.
            rows_per_replica: rows of a block, padding included, the same in all processes.
            x64: as for `place`.

        Returns:
            The step's batch, with a `PerReplica` for every array.

        Raises:
            BatchError: the batch has integers that do not fit.
        """
        batch, layout = mine.batch, RowLayout(counts, rows_per_replica)
        own = RowLayout(mine.counts, rows_per_replica)
        index = None if own.is_identity else own.row_index
        with jax.enable_x64(x64):
            texts = [position for position, leaf in enumerate(batch.leaves) if leaf.dtype == object]
            others = {*texts, *batch.scalars}
            leaves = [
                _owned(batch, position, index)
                for position in range(len(batch.leaves))
                if position not in others
            ]
            stay = self._stays and own.is_identity and not (others or logs_placements())
            on_host = [leaf for leaf in leaves if type(leaf) is np.ndarray] if stay else []
            if stay and len(on_host) == len(leaves):
                mask = RowMask(self._mask_of(layout), counts, rows_per_replica)
                return batch.rebuild(
                    [PerReplica.on_host(leaf, self._layout.rows, mask) for leaf in on_host]
                )
            if len(mine.counts) == self._replicas:
                arrays = place_all(leaves, self._layout.rows)
            else:
                arrays = [
                    place_own(np.split(leaf, self.own_replicas), self._layout) for leaf in leaves
                ]
            if others:
                rows = iter(split_rows(arrays, layout, self._mask_of(layout)))
                return batch.rebuild(
                    [
                        self._texts(mine, position)
                        if position in texts
                        else self._scalar(mine, position)
                        if position in batch.scalars
                        else next(rows)
                        for position in range(len(batch.leaves))
                    ]
                )
            placed = batch.rebuild(arrays)
            finish = self._needed_finish()
            if finish is not None:
                placed = finish(placed)
        return split_rows(placed, layout, self._mask_of(layout))

    def _texts(self, mine: Share, position: int) -> HostPerReplica:
        """Gives each replica of this process its rows of an array of texts."""
        array = np.asarray(mine.batch.leaves[position])
        if position in mine.batch.scalars:
            texts = [np.asarray(text, object) for text in array.reshape(-1)]
            return HostPerReplica(texts, self._layout.mesh)
        rows = np.split(array, np.cumsum(mine.counts)[:-1])
        if len(rows) > self.own_replicas:
            rows = [rows[replica] for replica in self._layout.own_replicas]
        return HostPerReplica(rows, self._layout.mesh)

    def _scalar(self, mine: Share, position: int) -> PerReplica:
        """Puts one scalar for each replica of this process on its device."""
        own = np.atleast_1d(_owned(mine.batch, position, None))
        array = place_own([value[None] for value in own], self._layout)
        return PerReplica(array, self._replicas, stacked=True)

    def _learn(self, batch: Batch) -> int:
        """Compares a batch with those before, and returns the rows of a full one."""
        with self._lock:
            if self._structure is None:
                self._structure = batch.structure
            if batch.structure != self._structure:
                raise BatchError(
                    f"The structure of the batches changed: expected {self._structure}, as in the first "
                    f"batch, but this one is {batch.structure}. Yield the same structure every time."
                )
            self.full_rows = max(self.full_rows or 0, batch.rows)
            return self.full_rows

    def _mask_of(self, layout: RowLayout) -> jax.Array:
        cached = self._last_mask
        if cached is None or cached[0] != layout:
            cached = self._last_mask = (layout, place(layout.mask, self._layout.rows))
        return cached[1]


def split_rows(batch: PyTree, layout: RowLayout, valid: jax.Array) -> PyTree:
    """Returns a batch with a `PerReplica` for every array.

    Args:
        batch: arrays whose rows are split over the replicas, or descriptions of such arrays.
        layout: of the rows.
        valid: whether each row is valid, split in the same way.
    """
    # Steps tell batches apart by their RowMask, so each has its own; they may share the array.
    mask = RowMask(valid, layout.counts, layout.rows_per_replica)
    replicas = len(layout.counts)
    return jax.tree.map(lambda array: PerReplica(array, replicas, stacked=False, mask=mask), batch)


def _owned(batch: Batch, position: int, index: np.ndarray | None) -> RowArray:
    """Lays out the rows of a batch's array, in memory that nobody else writes to.

    On the CPU, `device_put` may alias NumPy's memory, whatever its `may_alias` says. A source that refills
    its buffer, or a user who changes the data, would change batches that were handed out; so arrays
    that are not gathered are copied.
    """
    leaf = batch.leaves[position]
    dtype = jax.dtypes.canonicalize_dtype(leaf.dtype)
    if not integers_fit(leaf, dtype):
        raise BatchError(
            f"{batch.leaf_name(position)} holds {leaf.dtype} values from {leaf.min()} to {leaf.max()}, "
            f"but JAX keeps {dtype} while 64-bit types are off, and they do not fit. Allow 64 bits "
            'with jax.config.update("jax_enable_x64", True), or map the values to smaller ones.'
        )
    if isinstance(leaf, jax.Array):
        leaf = leaf.astype(dtype)
    else:
        with np.errstate(over="ignore"):  # a float that is too large becomes infinite, as in JAX
            leaf = leaf.astype(dtype, order="C", copy=index is None)
    return leaf if index is None else leaf[index]


def _nothing_like(scalar: RowArray) -> np.ndarray:
    """Returns what a replica without a batch has in the place of a scalar."""
    return np.asarray("" if scalar.dtype == object else 0).astype(scalar.dtype)
