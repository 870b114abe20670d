"""Batches on the devices: blocks of one size, rows that nobody else writes to."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh

import spmd
from spmd.input.batch import read_batch
from spmd.input.device_map import DeviceMap
from spmd.input.placement import BatchPlacer

MeshOf = Callable[[int], Mesh]


def test_every_block_has_the_rows_of_a_full_batch(mesh_of: MeshOf) -> None:
    placer = BatchPlacer(mesh_of(2), full_rows=6)
    batch = placer.place(np.arange(4), x64=False)
    assert batch.array.shape == (6,)
    assert batch.mask.counts == (2, 2)
    assert [part.tolist() for part in batch] == [[0, 1], [2, 3]]


def test_the_largest_batch_so_far_is_a_full_one(mesh_of: MeshOf) -> None:
    placer = BatchPlacer(mesh_of(2), full_rows=None)
    assert placer.full_rows is None
    for rows, full in [(4, 4), (8, 8), (2, 8)]:
        placer.place(np.zeros(rows), x64=False)
        assert placer.full_rows == full


def test_empty_and_dropped_batches(mesh_of: MeshOf) -> None:
    placer = BatchPlacer(mesh_of(2), full_rows=4, drop_remainder=True)
    assert placer.place(np.zeros(0), x64=False) is None
    assert placer.place(np.zeros(3), x64=False) is None
    assert placer.place(np.zeros(4), x64=False) is not None


def test_a_source_may_overwrite_its_array(mesh_of: MeshOf) -> None:
    array = np.zeros(4, np.float32)
    batch = BatchPlacer(mesh_of(2), 4).place(array, x64=False)
    array[:] = 1
    assert np.asarray(batch.array).tolist() == [0, 0, 0, 0]


def test_a_batch_for_one_step_on_one_processor_stays_on_the_host(mesh_of: MeshOf) -> None:
    array = np.arange(8, dtype=np.float64).reshape(4, 2)
    batch = BatchPlacer(mesh_of(1), None, for_one_step=True).place({"x": array}, x64=False)
    array[:] = 0
    assert batch["x"].host is not None
    assert batch["x"].dtype == np.float32
    assert batch["x"].mask.counts == (4,)
    assert batch["x"].numpy().tolist() == [[0, 1], [2, 3], [4, 5], [6, 7]]


def test_a_batch_goes_to_the_devices_if_it_is_padded_on_one_already_or_for_several(
    mesh_of: MeshOf,
) -> None:
    placer = BatchPlacer(mesh_of(1), 4, for_one_step=True)
    padded = placer.place(np.ones((3, 2), np.float32), x64=False)
    on_device = placer.place(jnp.ones((4, 2)), x64=False)
    of_several = BatchPlacer(mesh_of(2), None, for_one_step=True).place(np.ones(4), x64=False)
    for batch in (padded, on_device, of_several):
        assert batch.host is None
    assert padded.mask.padded


def test_integers_are_not_cut(mesh_of: MeshOf) -> None:
    placer = BatchPlacer(mesh_of(2), 2)
    with pytest.raises(spmd.errors.BatchError, match="int64 values from 0 to 4294967296"):
        placer.place(np.array([0, 2**32]), x64=False)
    assert placer.place(np.array([0, 2**32]), x64=True).array.dtype == np.int64


def test_the_structure_stays(mesh_of: MeshOf) -> None:
    placer = BatchPlacer(mesh_of(2), 2)
    placer.place({"x": np.zeros(2)}, x64=False)
    with pytest.raises(spmd.errors.BatchError, match="structure of the batches changed"):
        placer.place((np.zeros(2),), x64=False)


def test_one_batch_for_each_replica(mesh_of: MeshOf) -> None:
    placer = BatchPlacer(mesh_of(2), None)
    share = placer.share_of_each([read_batch(np.arange(3))])
    assert share is not None
    assert (share.counts, share.rows_per_replica, share.full) == ((3, 0), 3, False)
    batch = placer.put_share(share, share.counts, 3, x64=False)
    assert [part.tolist() for part in batch] == [[0, 1, 2], []]
    assert isinstance(batch.array, jax.Array)
    with pytest.raises(spmd.errors.BatchError, match="rows of one shape and type"):
        placer.share_of_each([read_batch(np.ones(2)), read_batch(np.ones((2, 2)))])


def test_texts_stay_on_the_host_in_the_rows_of_their_replicas(mesh_of: MeshOf) -> None:
    names = np.array(["a", "bb", "c"])
    batch = BatchPlacer(mesh_of(2), 4).place((names, np.arange(3), names), x64=False)
    assert [names.tolist() for names in batch[0].values] == [["a", "bb"], ["c"]]
    assert [part.tolist() for part in batch[1]] == [[0, 1], [2]]
    assert [names.tolist() for names in batch[2].values] == [["a", "bb"], ["c"]]
    only = BatchPlacer(mesh_of(2), None).place(names[:1], x64=False)
    assert [names.tolist() for names in only.values] == [["a"], []]
    mapped = DeviceMap(lambda batch: batch, mesh_of(2))
    with pytest.raises(spmd.errors.BatchError, match="Devices hold numbers"):
        BatchPlacer(mesh_of(2), None, finish=mapped).place(names, x64=False)
    unmapped = DeviceMap(lambda batch: batch, mesh_of(2), is_needed=lambda: False)
    stays = BatchPlacer(mesh_of(2), None, finish=unmapped).place(names, x64=False)
    assert [names.tolist() for names in stays.values] == [["a", "bb"], ["c"]]
    unmapped = DeviceMap(lambda batch: batch, mesh_of(1), is_needed=lambda: False)
    scalar = BatchPlacer(mesh_of(1), None, finish=unmapped, scalars=True).place(
        (np.arange(2), np.float32(3)), x64=False
    )
    assert float(scalar[1].values[0]) == 3


def test_scalars_are_one_replicas(mesh_of: MeshOf) -> None:
    placer = BatchPlacer(mesh_of(1), None, scalars=True)
    number, rows = placer.place((np.int32(7), np.arange(2)), x64=False)
    assert (number.values[0].tolist(), number.mask, rows.values[0].tolist()) == (7, None, [0, 1])
    placer = BatchPlacer(mesh_of(2), None, scalars=True)
    for given, expected in (([3, 4], [3, 4]), ([5], [5, 0])):
        share = placer.share_of_each([placer.read((np.int32(n), "t")) for n in given])
        assert share is not None
        assert share.full == (len(given) == 2)
        number, text = placer.put_share(share, share.counts, 1, x64=False)
        assert [one.tolist() for one in number.values] == expected
        assert text.values[0].tolist() == "t"
    with pytest.raises(spmd.errors.BatchError, match="is a scalar"):
        BatchPlacer(mesh_of(2), None).place(np.int32(1), x64=False)
