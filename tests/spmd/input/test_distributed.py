"""What a person sees of distribute: rows, padding, placement, passes and errors."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import spmd
from spmd.replica import is_per_replica

MeshOf = Callable[[int], Mesh]
DTYPES = [np.float32, np.float64, np.int32, np.int64, np.uint8, np.bool_, ml_dtypes.bfloat16]

leaf_kinds = st.tuples(
    st.sampled_from(DTYPES), st.lists(st.integers(1, 3), max_size=2).map(tuple), st.booleans()
)
structures = st.recursive(
    leaf_kinds.map(lambda kind: {"leaf": kind}),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=2).map(tuple)
        | st.dictionaries(st.sampled_from("abc"), inner, min_size=1, max_size=2)
        | st.lists(inner, min_size=1, max_size=2)
    ),
    max_leaves=3,
)


def mesh_of(count: int) -> Mesh:
    return spmd.make_mesh([f"cpu:{index}" for index in range(count)])


def fill(structure: Any, rows: int) -> Any:
    """Makes arrays for a structure of leaf kinds; row i of every array tells i."""
    if isinstance(structure, dict) and "leaf" in structure:
        dtype, shape, on_device = structure["leaf"]
        numbers = np.arange(1, rows + 1).reshape(-1, *[1] * len(shape))
        array = np.broadcast_to(numbers, (rows, *shape)).astype(dtype)
        return jnp.asarray(array) if on_device else array
    if isinstance(structure, dict):
        return {key: fill(value, rows) for key, value in structure.items()}
    return type(structure)(fill(value, rows) for value in structure)


@given(structures, st.integers(0, 40), st.integers(1, 16), st.integers(1, 8), st.booleans())
@settings(max_examples=30)
def test_valid_rows_in_order_are_the_rows_of_the_source(
    structure: Any, rows: int, batch_size: int, replicas: int, drop: bool
) -> None:
    data = fill(structure, rows)
    mesh = mesh_of(replicas)
    # The thread has tests of its own; here it would only cost time.
    batches = spmd.distribute(data, mesh, batch_size=batch_size, drop_remainder=drop, prefetch=0)
    seen = list(batches)
    assert len(seen) == len(batches)
    assert len(seen) == (rows // batch_size if drop else math.ceil(rows / batch_size))
    block = math.ceil(batch_size / replicas)
    assert batches.rows_per_replica == block
    kept = rows // batch_size * batch_size if drop else rows
    columns: list[list[Any]] = [[] for _ in jax.tree.leaves(data)]
    for number, batch in enumerate(seen):
        assert jax.tree.structure(batch, is_leaf=is_per_replica) == jax.tree.structure(data)
        leaves: list[spmd.PerReplica] = jax.tree.leaves(batch, is_leaf=is_per_replica)
        masks = [leaf.mask for leaf in leaves]
        mask = masks[0]
        assert mask is not None
        assert all(other is mask for other in masks)
        size = min(batch_size, rows - number * batch_size)
        assert sum(mask.counts) == size
        each = math.ceil(size / replicas)
        assert mask.counts == tuple(min(each, max(0, size - r * each)) for r in range(replicas))
        valid = np.asarray(mask.array)
        assert valid.reshape(replicas, -1).sum(1).tolist() == list(mask.counts)
        for leaf, column in zip(leaves, columns, strict=True):
            assert leaf.array.shape[0] == replicas * block
            assert leaf.array.sharding == NamedSharding(mesh, PartitionSpec("replica"))
            column.extend(np.asarray(value) for value in leaf.values)
            host = np.asarray(leaf.array)
            # Padding repeats the last valid row, so it is as finite as the data is.
            assert (host[~valid] == host[valid][-1:]).all()
    for column, source in zip(columns, jax.tree.leaves(data), strict=True):
        if column:
            expected = np.asarray(jnp.asarray(source))[:kept]
            np.testing.assert_array_equal(np.concatenate(column), expected)
            assert column[0].dtype == expected.dtype


def test_a_block_lies_on_the_device_of_its_replica(mesh_of: MeshOf) -> None:
    mesh = mesh_of(4)
    (batch,) = spmd.distribute(np.arange(6), mesh, batch_size=6)
    shards = {
        shard.device: np.asarray(shard.data).tolist() for shard in batch.array.addressable_shards
    }
    assert [shards[device] for device in mesh.devices] == [[0, 1], [2, 3], [4, 5], [5, 5]]
    assert [value.tolist() for value in batch] == [[0, 1], [2, 3], [4, 5], []]


def test_a_mesh_with_more_axes_repeats_rows_along_them() -> None:
    devices = np.array(jax.devices("cpu")[:4]).reshape(2, 2)
    mesh = Mesh(devices, ("replica", "model"))
    (batch,) = spmd.distribute(np.arange(4), mesh, batch_size=4)
    shards = {
        shard.device: np.asarray(shard.data).tolist() for shard in batch.array.addressable_shards
    }
    assert [[shards[d] for d in row] for row in devices] == [[[0, 1], [0, 1]], [[2, 3], [2, 3]]]


def test_full_batches_share_the_mask_array_but_not_the_mask(mesh_of: MeshOf) -> None:
    batches = list(spmd.distribute(np.arange(12), mesh_of(2), batch_size=5))
    masks = [batch.mask for batch in batches]
    assert masks[0] is not masks[1]
    assert masks[0].array is masks[1].array
    assert masks[2].counts == (1, 1)


def test_every_iteration_is_a_new_pass(mesh_of: MeshOf) -> None:
    batches = spmd.distribute(np.arange(10), mesh_of(2), batch_size=4)
    passes = [[np.concatenate(list(batch)).tolist() for batch in batches] for _ in range(3)]
    assert passes == [[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]] * 3


def test_two_passes_at_once_do_not_disturb_each_other(mesh_of: MeshOf) -> None:
    batches = spmd.distribute(np.arange(40), mesh_of(2), batch_size=4)
    for first, second in zip(batches, batches, strict=True):
        np.testing.assert_array_equal(first.array, second.array)


def test_the_full_size_is_learned_and_kept_over_passes(mesh_of: MeshOf) -> None:
    sizes = [4, 3, 6, 4]
    batches = spmd.distribute(lambda: (np.ones(n) for n in sizes), mesh_of(2))
    assert batches.batch_size is None
    assert batches.rows_per_replica is None
    assert [batch.shape[0] for batch in batches] == [2, 2, 3, 3]
    assert (batches.batch_size, batches.rows_per_replica) == (6, 3)
    assert [batch.shape[0] for batch in batches] == [3, 3, 3, 3]


def test_drop_remainder_drops_what_is_smaller_than_full(mesh_of: MeshOf) -> None:
    batches = spmd.distribute(
        lambda: (np.ones(n) for n in (4, 3, 4, 1)), mesh_of(2), drop_remainder=True
    )
    assert [batch.mask.counts for batch in batches] == [(2, 2), (2, 2)]


def test_batches_without_rows_are_skipped(mesh_of: MeshOf) -> None:
    mesh = mesh_of(2)
    assert list(spmd.distribute(np.ones((0, 3)), mesh, batch_size=4)) == []
    assert list(spmd.distribute(list, mesh)) == []
    batches = spmd.distribute([np.ones(0), np.ones(2), np.ones(0)], mesh)
    assert [batch.mask.counts for batch in batches] == [(1, 1)]


def test_length(mesh_of: MeshOf) -> None:
    mesh, data = mesh_of(2), np.ones(10)
    assert len(spmd.distribute(data, mesh, batch_size=4)) == 3
    assert len(spmd.distribute(data, mesh, batch_size=4, drop_remainder=True)) == 2
    assert len(spmd.distribute([data, data], mesh)) == 2
    unknown = [
        spmd.distribute([data, data], mesh, drop_remainder=True),
        spmd.distribute(lambda: iter([data]), mesh),
        spmd.distribute(iter([data]), mesh),
    ]
    for batches in unknown:
        with pytest.raises(TypeError, match="number of batches is not known"):
            len(batches)


@pytest.mark.parametrize("prefetch", [0, 2])
def test_handed_out_batches_never_change(mesh_of: MeshOf, prefetch: int) -> None:
    # On the CPU, device_put may keep using NumPy's memory.
    def reuse_one_buffer() -> Iterator[np.ndarray]:
        memory = np.empty(2**18 + 64, np.uint8)
        # Aligned as XLA wants it; else it copies by itself.
        start = -memory.ctypes.data % 64
        buffer = memory[start : start + 2**18].view(np.float32).reshape(1024, 64)
        for number in range(4):
            buffer[:] = number
            yield buffer

    batches = list(spmd.distribute(reuse_one_buffer, mesh_of(2), prefetch=prefetch))
    for number, batch in enumerate(batches):
        np.testing.assert_array_equal(batch.array, number)


@pytest.mark.parametrize("prefetch", [0, 2])
def test_64_bits_stay_where_jax_keeps_them(mesh_of: MeshOf, prefetch: int) -> None:
    data = {"i": np.array([2**40, 1]), "f": np.array([1e300, 1.0])}
    with jax.enable_x64(True):
        (batch,) = spmd.distribute(data, mesh_of(2), batch_size=2, prefetch=prefetch)
        assert batch["i"].dtype == np.int64
        assert batch["f"].dtype == np.float64
        assert batch["i"].array.tolist() == [2**40, 1]


def test_64_bits_are_narrowed_where_jax_narrows_them(mesh_of: MeshOf) -> None:
    data = {"i": np.array([2**31 - 1, -(2**31)]), "f": np.array([1e300, 1.0])}
    (batch,) = spmd.distribute(data, mesh_of(2), batch_size=2)
    assert batch["i"].dtype == np.int32
    assert batch["i"].array.tolist() == [2**31 - 1, -(2**31)]
    assert batch["f"].array.tolist() == [math.inf, 1.0]


@pytest.mark.parametrize("value", [2**31, -(2**31) - 1])
def test_integers_that_do_not_fit_are_errors(mesh_of: MeshOf, value: int) -> None:
    batches = spmd.distribute({"id": np.array([0, value])}, mesh_of(2), batch_size=2)
    with pytest.raises(
        spmd.errors.BatchError, match=rf"batch\['id'\].*int64.*{value}.*jax_enable_x64"
    ):
        list(batches)
    unsigned = spmd.distribute(np.array([2**32], np.uint64), mesh_of(2), batch_size=1)
    with pytest.raises(spmd.errors.BatchError, match=r"uint64 values from 4294967296"):
        list(unsigned)


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        ({"x": np.ones(4), "y": 3.0}, r"batch\['y'\] is a scalar.*\.batch\(global_batch_size\)"),
        (np.float32(1), r"batch is a scalar"),
        (
            {"x": np.ones((4, 2)), "y": (np.ones(4), np.ones(3))},
            r"batch\['x'\] has 4 and batch\['y'\]\[1\] has 3",
        ),
        ((np.ones(2), np.array([None, {}])), r"batch\[1\] has elements of type object"),
        ({"t": np.array(["2020-01-01"], "M8[D]")}, r"batch\['t'\] has elements of type datetime64"),
        ({}, "has no array"),
    ],
)
def test_batches_that_cannot_be_split_are_errors(mesh_of: MeshOf, batch: Any, message: str) -> None:
    with pytest.raises(spmd.errors.BatchError, match=message):
        list(spmd.distribute([batch], mesh_of(2)))


def test_arrays_are_checked_at_once(mesh_of: MeshOf) -> None:
    with pytest.raises(spmd.errors.BatchError, match=r"batch\[0\] has 4 and batch\[1\] has 3"):
        spmd.distribute((np.ones(4), np.ones(3)), mesh_of(2), batch_size=2)


def test_a_changed_structure_is_an_error_that_shows_both(mesh_of: MeshOf) -> None:
    x = np.ones(2)
    batches = spmd.distribute([{"x": x}, {"x": x, "y": x}], mesh_of(2))
    with pytest.raises(
        spmd.errors.BatchError,
        match=r"expected PyTreeDef\(\{'x': \*\}\).*is PyTreeDef\(\{'x': \*, 'y': \*\}\)",
    ):
        list(batches)


def test_distributing_twice_is_an_error(mesh_of: MeshOf) -> None:
    mesh = mesh_of(2)
    once = spmd.distribute(np.ones(4), mesh, batch_size=2)
    with pytest.raises(spmd.errors.BatchError, match="already split over the replicas"):
        list(spmd.distribute(once, mesh))


@pytest.mark.parametrize("source", [None, 3, "data.csv", b"data"])
def test_an_unsupported_source_is_an_error_that_lists_what_is_supported(source: Any) -> None:
    with pytest.raises(
        spmd.errors.BatchError, match=r"Supported are NumPy and JAX arrays.*Grain's"
    ) as error:
        spmd.distribute(source)
    assert type(source).__name__ in str(error.value)


@pytest.mark.parametrize("source", [np.ones(4), (np.ones(4),), {"x": np.ones(4)}, range(4)])
def test_rows_need_a_batch_size(source: Any) -> None:
    with pytest.raises(spmd.errors.BatchError, match="batch_size=global_batch_size"):
        spmd.distribute(source)


@pytest.mark.parametrize("source", [iter([np.ones(4)]), {1, 2}, lambda: iter([])])
def test_batches_take_no_batch_size(source: Any) -> None:
    with pytest.raises(spmd.errors.BatchError, match="Leave batch_size out"):
        spmd.distribute(source, batch_size=4)


def test_sizes_are_checked() -> None:
    with pytest.raises(spmd.errors.BatchError, match="batch_size must be 1 at least, but is 0"):
        spmd.distribute(np.ones(4), batch_size=0)
    with pytest.raises(ValueError, match="prefetch must be 0"):
        spmd.distribute(np.ones(4), batch_size=4, prefetch=-1)


def test_its_text_says_what_it_is(mesh_of: MeshOf) -> None:
    batches = spmd.distribute((np.ones(5), np.ones(5)), mesh_of(2), batch_size=4)
    assert (
        repr(batches) == "DistributedInput(2 array(s) of 5 rows, batch_size=4, rows_per_replica=2)"
    )


def test_a_pass_goes_on_after_batches_that_were_left_out(mesh_of: MeshOf) -> None:
    def source() -> Iterator[np.ndarray]:
        for rows in (4, 2, 4, 4):
            yield np.full(rows, rows * 10 + len(made))
            made.append(rows)

    made: list[int] = []
    batches = iter(spmd.distribute(source, mesh_of(2), drop_remainder=True, prefetch=0))
    seen = [next(batches), next(batches)]
    assert [int(batch[0][0]) for batch in seen] == [40, 42]
    state = batches.get_state()
    made.clear()
    again = iter(spmd.distribute(source, mesh_of(2), drop_remainder=True, prefetch=0))
    again.set_state(state)
    assert [int(batch[0][0]) for batch in again] == [43]


def test_a_position_in_parts_is_refused_where_the_data_is_whole(mesh_of: MeshOf) -> None:
    batches = spmd.distribute(np.arange(8), mesh_of(2), batch_size=4)
    with pytest.raises(spmd.errors.BatchError, match=r"divided among 2 process\(es\)"):
        batches.set_state({"position": None, "batches": 1, "parts": 2})
    with pytest.raises(spmd.errors.BatchError, match="divided among 3"):
        iter(batches).set_state({"position": None, "batches": 1, "parts": 3})
    assert len(list(batches)) == 2
