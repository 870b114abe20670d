"""How a call of a step treated the rows of its batches, for people who ask."""

import dataclasses
from collections.abc import Sequence
from typing import Literal, TypeAlias

from spmd.replica import RowMask

Path: TypeAlias = Literal["masked", "exact", "unequal"]

_MEANING: dict[Path, str] = {
    "masked": "the program for full blocks, with a mask of the valid rows",
    "exact": "a program for blocks of this size, without padding",
    "unequal": "a program for the rows that each replica has, without padding",
}


@dataclasses.dataclass(frozen=True)
class Explanation:
    """How the last call of a step treated the rows of its batches.

    Attributes:
        step: its name.
        path: which program ran. `"masked"`: the one for full blocks; padding, if there is any, is masked.
            `"exact"`: one for smaller blocks, because padding would count, and all replicas have as many rows.
            `"unequal"`: one made for the rows that each replica has, because padding would count.
        rows: for each batch, the valid rows of every replica.
        block_rows: for each batch, the rows of a block, padding included.
        why: why that program ran, in words.

    Examples:
        >>> import numpy as np, spmd
        >>> mesh = spmd.make_mesh(["cpu:0", "cpu:1"])
        >>> step = spmd.Step(lambda x: spmd.all_reduce(x.sum()), mesh)
        >>> for batch in spmd.distribute(np.ones(11, np.float32), mesh, batch_size=4):
        ...     print(float(step(batch)), step.explain().path, step.explain().rows)
        4.0 masked ((2, 2),)
        4.0 masked ((2, 2),)
        3.0 unequal ((2, 1),)
    """

    step: str
    path: Path
    rows: tuple[tuple[int, ...], ...]
    block_rows: tuple[int, ...]
    why: str

    def __str__(self) -> str:
        rows = " and ".join(str(list(counts)) for counts in self.rows) or "no"
        return f"The step {self.step!r} got {rows} rows on its replicas, and ran {_MEANING[self.path]}: {self.why}."


def explanation(step: str, path: Path, masks: Sequence[RowMask], why: str | None) -> Explanation:
    """Explains a call.

    Args:
        step: its name.
        path: which program ran.
        masks: of the batches that the call got.
        why: where padding would count; None if it would not.
    """
    if why is None:
        padded = any(mask.padded for mask in masks)
        why = "padding does not change what it computes" if padded else "no row is padding"
    rows = tuple(mask.counts for mask in masks)
    return Explanation(step, path, rows, tuple(mask.rows_per_replica for mask in masks), why)
