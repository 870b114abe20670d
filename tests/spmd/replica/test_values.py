"""Per-replica values: reading them by replica, what padding leaves behind, how they show."""

import copy
import operator
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import spmd

MeshOf = Callable[[int], Mesh]


def split(mesh: Mesh, array: Any) -> jax.Array:
    return jax.device_put(np.asarray(array), NamedSharding(mesh, PartitionSpec("replica")))


def mask_of(mesh: Mesh, counts: tuple[int, ...], rows: int) -> spmd.replica.RowMask:
    valid = np.concatenate([np.arange(rows) < count for count in counts])
    return spmd.replica.RowMask(split(mesh, valid), counts, rows)


def lists(values: Any) -> list[Any]:
    return [np.asarray(value).tolist() for value in values]


def test_stacked_values(mesh_of: MeshOf) -> None:
    mesh = mesh_of(3)
    value = spmd.PerReplica(
        split(mesh, np.arange(6, dtype=np.int32).reshape(3, 2)), 3, stacked=True
    )
    assert (value.shape, value.dtype, len(value)) == ((2,), np.int32, 3)
    assert lists(value) == lists(value.values) == [[0, 1], [2, 3], [4, 5]]
    assert lists([value[0], value[2], value[-1], value[-3]]) == [[0, 1], [4, 5], [4, 5], [0, 1]]
    assert [block.devices() for block in value] == [{device} for device in mesh.devices]
    assert value.mesh == mesh
    assert value.block_until_ready() is value


def test_rows(mesh_of: MeshOf) -> None:
    mesh = mesh_of(3)
    value = spmd.PerReplica(split(mesh, np.arange(12.0).reshape(6, 2)), 3, stacked=False)
    assert (value.shape, len(value)) == ((2, 2), 3)
    assert lists(value)[1] == np.asarray(value[1]).tolist() == [[4.0, 5.0], [6.0, 7.0]]


def test_scalars(mesh_of: MeshOf) -> None:
    value = spmd.PerReplica(split(mesh_of(2), np.array([True, False])), 2, stacked=True)
    assert (value.shape, value.dtype) == ((), np.bool_)
    assert [bool(block) for block in value] == [True, False]


def test_the_value_of_the_only_replica_can_be_used_as_it_is(mesh_of: MeshOf) -> None:
    mesh = mesh_of(1)
    rows = split(mesh, np.array([1, 2, 9], np.float32))
    value: Any = spmd.PerReplica(rows, 1, stacked=False, mask=mask_of(mesh, (2,), 3))
    assert (value.shape, value.block_shape) == ((2,), (3,))
    array = value.numpy()
    assert isinstance(array, np.ndarray)
    array[0] = 1  # a copy, which may be written to
    assert lists([value + 1, 1 + value, np.ones(2) + value]) == [[2, 3]] * 3
    assert lists([-value, value > 1, value == value.numpy()]) == [
        [-1, -2],
        [False, True],
        [True, True],
    ]
    assert not (value != value).any()
    assert jnp.asarray(value).tolist() == [1, 2]
    assert np.asarray(value).tolist() == [1, 2]
    assert {value} == {value}

    one: Any = spmd.PerReplica(split(mesh, np.array([2.5], np.float32)), 1, stacked=True)
    assert isinstance(one.numpy(), np.generic)
    assert (float(one), int(one), bool(one), f"{one:.2f}", f"{one}") == (
        2.5,
        2,
        True,
        "2.50",
        "2.5",
    )
    assert (str(one), "%s" % one, repr(one)) == ("2.5", "2.5", "PerReplica(0: 2.5)")  # noqa: UP031
    whole: Any = spmd.PerReplica(split(mesh, np.array([1])), 1, stacked=True)
    assert [10, 20][whole] == 20


def test_values_of_several_replicas_are_no_number(mesh_of: MeshOf) -> None:
    value: Any = spmd.PerReplica(split(mesh_of(2), np.array([1.0, 2.0])), 2, stacked=True)
    uses: list[Callable[[Any], Any]] = [
        float,
        int,
        jnp.asarray,
        lambda v: v.numpy(),
        lambda v: v + 1,
        lambda v: v > 1,
        lambda v: f"{v:.2f}",
    ]
    for use in uses:
        with pytest.raises(TypeError, match=r"each of 2 replicas.*spmd\.reduce\(value, 'sum'\)"):
            use(value)
    assert value
    assert value == value
    assert value != 1
    assert f"{value}" == str(value) == "PerReplica(0: 1., 1: 2.)"
    assert np.asarray(value).tolist() == [1, 2]


@pytest.mark.parametrize("stacked", [False, True])
def test_padding_is_left_out(mesh_of: MeshOf, stacked: bool) -> None:
    mesh = mesh_of(3)
    table = np.arange(6, dtype=np.int32)
    array = split(mesh, table.reshape(3, 2) if stacked else table)
    value = spmd.PerReplica(array, 3, stacked=stacked, mask=mask_of(mesh, (2, 1, 0), 2))
    assert lists(value) == lists(value.values) == [[0, 1], [2], []]
    assert lists([value[1], value[-1]]) == [[2], []]
    assert repr(value) == "PerReplica(0: [0, 1], 1: [2], 2: [])"
    # These tell of the blocks as they lie on the devices.
    assert (value.shape, value.array.size) == ((2,), 6)


def test_a_mask_knows_whether_it_hides_anything(mesh_of: MeshOf) -> None:
    assert mask_of(mesh_of(2), (2, 1), 2).padded
    assert not mask_of(mesh_of(2), (2, 2), 2).padded


@pytest.mark.parametrize("index", [3, -4, 100])
def test_a_replica_that_does_not_exist(mesh_of: MeshOf, index: int) -> None:
    value = spmd.PerReplica(split(mesh_of(3), np.arange(3)), 3, stacked=True)
    with pytest.raises(IndexError) as error:
        value[index]
    expected = f"There is no replica {index}: this value has 3 replica(s), 0 to 2."
    assert str(error.value) == expected


def test_a_short_value_shows_all_and_a_long_one_its_shape(mesh_of: MeshOf) -> None:
    mesh = mesh_of(2)
    short = spmd.PerReplica(split(mesh, np.array([[0.5, 1.0], [2.0, 3.0]])), 2, stacked=True)
    assert repr(short) == "PerReplica(0: [0.5, 1. ], 1: [2., 3.])"
    scalars = spmd.PerReplica(split(mesh, np.array([7, 8])), 2, stacked=True)
    assert repr(scalars) == "PerReplica(0: 7, 1: 8)"
    long = spmd.PerReplica(split(mesh, np.zeros((2, 50, 3), np.float32)), 2, stacked=True)
    assert repr(long) == "PerReplica(2 x float32[50, 3])"


def test_blocks_are_found_on_a_mesh_of_two_axes() -> None:
    mesh = Mesh(np.array(jax.devices()[:4]).reshape(2, 2), ("model", "replica"))
    value = spmd.PerReplica(split(mesh, np.arange(6).reshape(2, 3)), 2, stacked=True)
    assert lists(value) == [[0, 1, 2], [3, 4, 5]]


def test_a_device_may_hold_the_blocks_of_several_replicas(mesh_of: MeshOf) -> None:
    array = split(mesh_of(2), np.arange(8))
    assert lists(spmd.PerReplica(array, 4, stacked=False)) == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert lists(spmd.PerReplica(array, 8, stacked=True)) == list(range(8))


def test_results_of_a_step_with_rows_leave_padding_out(mesh_of: MeshOf) -> None:
    mesh = mesh_of(2)
    step = spmd.Step(lambda x: (x * 10, x.shape[0] + spmd.replica_id()), mesh)
    batches = list(
        spmd.distribute(np.arange(5, dtype=np.int32), mesh, batch_size=4, drop_remainder=False)
    )
    rows, scalars = step(batches[1])
    assert lists(rows) == [[40], []]
    assert lists(scalars) == [1, 1], "one row and index 0, no row and index 1"


def test_key_tells_layouts_apart(mesh_of: MeshOf) -> None:
    mesh = mesh_of(2)
    array = split(mesh, np.zeros((2, 2)))
    keys = {
        spmd.PerReplica(array, 2, stacked=True).key,
        spmd.PerReplica(array, 2, stacked=False).key,
        spmd.PerReplica(split(mesh, np.zeros((2, 3))), 2, stacked=True).key,
        spmd.PerReplica(split(mesh, np.zeros((2, 2), np.int32)), 2, stacked=True).key,
    }
    assert len(keys) == 4
    assert spmd.PerReplica(array + 1, 2, stacked=True).key in keys


def test_values_without_elements(mesh_of):
    step = spmd.Step(lambda x: x, mesh_of(2))
    (batch,) = spmd.distribute(np.zeros((3, 0), np.float32), mesh_of(2), batch_size=4)
    assert [value.shape for value in step(batch).values] == [(2, 0), (1, 0)]


# As a pytree.


def test_a_batch_is_a_pytree_of_global_arrays(mesh_of: MeshOf) -> None:
    rows = np.arange(5.0, dtype=np.float32)
    batch = next(iter(spmd.distribute((rows, rows), mesh_of(2), batch_size=6, prefetch=0)))
    x, y = batch
    assert all(map(operator.is_, jax.tree.leaves(batch), (x.array, y.array)))
    assert jax.block_until_ready(batch)[0].array is x.array
    doubled = jax.tree.map(lambda leaf: leaf * 2, batch)
    assert lists(doubled[0]) == [[0.0, 2.0, 4.0], [6.0, 8.0]]
    assert doubled[0].mask is x.mask
    assert x.mask is y.mask


def test_a_users_own_jit_takes_and_returns_batches(mesh_of: MeshOf) -> None:
    traces = []

    @jax.jit
    def scaled(batch: spmd.PerReplica) -> spmd.PerReplica:
        traces.append(batch.shape)
        return jax.tree.map(lambda leaf: leaf / 2, batch)

    rows = np.arange(12.0, dtype=np.float32)
    batches = list(spmd.distribute(rows, mesh_of(2), batch_size=4, prefetch=0))
    total = spmd.Step(lambda x: spmd.all_reduce(x.sum()), mesh_of(2))
    assert [float(total(scaled(batch))) for batch in batches] == [3.0, 11.0, 19.0]
    assert len(traces) == 1
    described = spmd.input.abstract_batch(jax.ShapeDtypeStruct((4,), np.float32), mesh_of(2))
    assert scaled.lower(described).compile()(batches[0]).array.shape == (4,)


def test_a_batch_that_a_step_closes_over_is_no_value_of_one_replica(mesh_of: MeshOf) -> None:
    batch = next(iter(spmd.distribute(np.arange(4.0), mesh_of(2), batch_size=4, prefetch=0)))
    for use in (spmd.all_reduce, spmd.replica.all_gather, lambda value: value):
        with pytest.raises(TypeError, match="one value for each of 2 replicas"):
            spmd.Step(lambda use=use: use(batch), mesh_of(2))()


ROWS = np.arange(6, dtype=np.float32).reshape(3, 2)


def on_host(mesh: Mesh, rows: np.ndarray[Any, Any] = ROWS) -> spmd.PerReplica:
    sharding = NamedSharding(mesh, PartitionSpec("replica"))
    return spmd.PerReplica.on_host(rows, sharding, mask_of(mesh, (3,), 3))


def test_rows_on_the_host_are_read_as_others(mesh_of: MeshOf) -> None:
    value = on_host(mesh_of(1))
    assert (value.shape, value.block_shape, value.dtype) == ((3, 2), (3, 2), np.float32)
    assert value.mesh == mesh_of(1)
    np.testing.assert_array_equal(copy.copy(value).numpy(), ROWS)
    np.testing.assert_array_equal(jnp.asarray(value) + 1, ROWS + 1)
    doubled = jax.tree.map(lambda array: 2 * array, value)
    assert doubled.host is None
    assert doubled.mask is value.mask
    np.testing.assert_array_equal(doubled.numpy(), 2 * ROWS)


def test_rows_on_the_host_run_the_program_of_rows_on_the_device(mesh_of: MeshOf) -> None:
    mesh = mesh_of(1)
    step = spmd.Step(lambda x: spmd.all_reduce(x.sum()), mesh)
    first, fresh = on_host(mesh), on_host(mesh, ROWS + 1)
    placed = spmd.PerReplica(first.array, 1, stacked=False, mask=first.mask)
    assert [float(step(value)) for value in (first, fresh, placed, fresh)] == [15, 21, 15, 21]
    assert step.trace_count == 1
    assert fresh.placed is None
