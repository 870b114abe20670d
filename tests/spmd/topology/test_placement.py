"""Arrays over devices, placed and read as a process does whose devices they all are."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from spmd.topology import placement as processes
from spmd.topology.layout import layout_of


def test_the_devices_of_one_process(mesh_of):
    assert not processes.spans_processes(mesh_of(2))


@pytest.mark.parametrize("value", [np.arange(6.0), jnp.arange(6.0)], ids=["host", "device"])
def test_places_what_it_has_in_full(mesh_of, value):
    placed, again = processes.place_all([value, value], layout_of(mesh_of(2)).rows)
    assert [part.data.tolist() for part in placed.addressable_shards] == [[0, 1, 2], [3, 4, 5]]
    assert processes.place(value, layout_of(mesh_of(2)).rows).tolist() == again.tolist()


@pytest.mark.parametrize("rows", [0, 2])
def test_places_blocks_in_the_order_of_devices(mesh_of, rows):
    sharding = layout_of(mesh_of(4)).rows
    blocks = [np.full((rows, 3), number) for number in range(4)]
    placed = processes.place_own(blocks, layout_of(mesh_of(4)))
    assert placed.shape == (4 * rows, 3)
    assert placed.sharding == sharding
    np.testing.assert_array_equal(placed, np.concatenate(blocks))


def test_reads_what_it_can(mesh_of):
    for sharding in (layout_of(mesh_of(2)).rows, layout_of(mesh_of(2)).whole):
        array = jax.device_put(jnp.arange(4), sharding)
        assert processes.readable(array) is array
    assert jax.jit(lambda x: processes.readable(x) + 1)(1) == 2


@pytest.mark.parametrize("placement", ["rows", "whole"])
def test_a_copy_can_be_donated(mesh_of, placement):
    sharding = getattr(layout_of(mesh_of(2)), placement)
    value = jax.device_put(jnp.arange(4.0), sharding)
    copy = processes.copied(value, sharding)
    assert copy.sharding == sharding
    copy.delete()
    assert value.tolist() == [0, 1, 2, 3]


def test_arrays_placed_again_are_copies_too(mesh_of):
    sharding = layout_of(mesh_of(1)).rows
    values = [np.arange(6.0, dtype=np.float32).reshape(3, 2), np.arange(3, dtype=np.int32)]
    first, again = (processes.place_all(values, sharding) for _ in range(2))
    for value, one, other in zip(values, first, again, strict=True):
        assert one.sharding == other.sharding == sharding
        assert (one.dtype, one.tolist()) == (other.dtype, other.tolist())
        assert (other.dtype, other.tolist()) == (value.dtype, value.tolist())


def test_nan_among_the_data_is_no_failure_of_ours(mesh_of):
    with jax.debug_nans(True):
        for _ in range(2):
            (placed,) = processes.place_all(
                [np.full(3, np.nan, np.float32)], layout_of(mesh_of(1)).rows
            )
        assert np.isnan(np.asarray(placed)).all()
