"""Batches whose arrays have different numbers of rows."""

from collections.abc import Callable

import numpy as np
import pytest
from jax.sharding import Mesh

import spmd
from spmd.input.parts import PartsPlacer

MeshOf = Callable[[int], Mesh]


def test_each_part_is_split_separately(mesh_of: MeshOf) -> None:
    placer = PartsPlacer(mesh_of(2))
    images, (few, labels) = placer.place(
        (np.arange(6.0), (np.arange(3.0), np.arange(3))), x64=False
    )
    assert [part.tolist() for part in images] == [[0, 1, 2], [3, 4, 5]]
    assert [part.tolist() for part in few] == [[0, 1], [2]]
    assert few.mask is labels.mask is not images.mask
    assert few.mask.counts == (2, 1)
    # A later batch has blocks of the same size.
    _, (few, _) = placer.place((np.arange(6.0), (np.arange(2.0), np.arange(2))), x64=False)
    assert few.array.shape == (4,)


@pytest.mark.parametrize("replicas", [1, 2])
def test_a_batch_of_one_part_is_a_batch(mesh_of: MeshOf, replicas: int) -> None:
    batch = PartsPlacer(mesh_of(replicas)).place({"x": np.ones(4), "y": np.ones((4, 2))}, x64=False)
    assert batch["x"].mask is batch["y"].mask


def test_no_rows(mesh_of: MeshOf) -> None:
    placer = PartsPlacer(mesh_of(1))
    assert placer.place((np.ones(0), np.ones(0)), x64=False) is None
    assert placer.place((np.ones(3), np.ones(0)), x64=False) is None


def test_scalars_are_refused(mesh_of: MeshOf) -> None:
    with pytest.raises(spmd.errors.BatchError, match="scalar"):
        PartsPlacer(mesh_of(1)).place((np.ones(3), 1.0), x64=False)
