"""Batches whose arrays have different numbers of rows, such as two datasets that are batched and then zipped."""

from collections.abc import Sequence

import jax
import numpy as np
from jax.sharding import Mesh

from spmd.input.placement import BatchPlacer
from spmd.typing import PyTree


class PartsPlacer:
    """Places the batches of one source on a mesh. Arrays with equally many rows are a *part*; each part is split separately.

    Each part has a mask of its own. A batch of one part is placed as `BatchPlacer` does it.
    """

    def __init__(self, mesh: Mesh) -> None:
        """Makes a placer of batches for one step each; touches no device."""
        self._mesh = mesh
        self._whole = BatchPlacer(mesh, None, for_one_step=True)
        # Of each part, by the positions of its arrays.
        self._parts: dict[tuple[int, ...], BatchPlacer] = {}

    def place(self, tree: PyTree, *, x64: bool) -> PyTree | None:
        """Puts a global batch on the devices; does not wait for the transfer.

        Args:
            tree: the batch.
            x64: whether 64-bit types stay as they are.

        Returns:
            The batch with a `PerReplica` for every array, or None if a part of it has no rows.

        Raises:
            BatchError: as for `BatchPlacer.place`.
        """
        leaves, structure = jax.tree.flatten(tree)
        positions: dict[tuple[int, ...], list[int]] = {}
        for position, leaf in enumerate(leaves):
            positions.setdefault(np.shape(leaf)[:1], []).append(position)
        if len(positions) < 2 or () in positions:
            return self._whole.place(tree, x64=x64)
        placed = list(leaves)
        for part in positions.values():
            arrays = self._placer_of(part).place([leaves[position] for position in part], x64=x64)
            if arrays is None:
                return None
            for position, array in zip(part, arrays, strict=True):
                placed[position] = array
        return structure.unflatten(placed)

    def _placer_of(self, part: Sequence[int]) -> BatchPlacer:
        key = tuple(part)
        if key not in self._parts:
            self._parts[key] = BatchPlacer(self._mesh, None, for_one_step=True)
        return self._parts[key]
