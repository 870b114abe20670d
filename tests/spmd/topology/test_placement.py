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


@pytest.mark.parametrize("devices", [1, 2])
def test_donating_a_large_copy_changes_no_other(mesh_of, devices):
    """Arrays of more than a page may lie in the memory of the host's array that they were made of."""
    sharding = layout_of(mesh_of(devices)).whole
    value = jax.device_put(jnp.zeros((300, 301)), sharding)
    first, second = (processes.copied(value, sharding) for _ in range(2))
    add = jax.jit(lambda x: x + 1, donate_argnums=0)
    for _ in range(3):
        first = add(first)
    for array, expected in ((first, 3), (second, 0), (value, 0)):
        for part in array.addressable_shards:
            assert np.unique(part.data).tolist() == [expected]


def test_copies_of_what_is_there_compile_nothing(mesh_of, caplog):
    sharding = layout_of(mesh_of(2)).whole
    value = jax.block_until_ready(jax.device_put(np.zeros((3, 71), np.float32), sharding))
    with jax.log_compiles(), caplog.at_level("WARNING"):
        processes.copied(value, sharding)
    assert not [record for record in caplog.records if "Compiling" in record.getMessage()]


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


def test_arrays_on_different_devices_are_brought_together(mesh_of):
    first, second = (jax.device_put(jnp.ones(2), device) for device in jax.devices("cpu")[:2])
    whole = jax.device_put(jnp.zeros(()), layout_of(mesh_of(2)).whole)
    split = jax.device_put(jnp.zeros(4), layout_of(mesh_of(2)).rows)
    for values in ([first, second], [first, whole], [whole, second], [split, second, 1.0, None]):
        together = processes.brought_together(values)
        assert together is not None
        arrays = [value for value in together if isinstance(value, jax.Array)]
        assert len({frozenset(array.devices()) for array in arrays}) == 1
        assert together[2:] == values[2:]
        for array, before in zip(together, values, strict=True):
            np.testing.assert_array_equal(array, before)
    moved = processes.brought_together([whole, second])
    assert moved is not None
    assert moved[0].sharding == whole.sharding  # a variable stays where it is


def test_what_is_together_stays(mesh_of):
    first, second = (jax.device_put(1.0, jax.devices("cpu")[1]) for _ in range(2))
    anywhere = jnp.ones(())  # JAX moves it by itself
    assert processes.brought_together([first, second, anywhere, 2.0]) is None
    whole = jax.device_put(jnp.zeros(2), layout_of(mesh_of(2)).whole)
    split = jax.device_put(jnp.zeros(2), layout_of(mesh_of(2)).rows)
    assert processes.brought_together([whole, split]) is None
    assert jax.jit(lambda x: processes.brought_together([x, first]) is None)(second)
