"""distribute(..., per_replica=True): each replica takes the next batch of the source."""

import itertools
import threading
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax.sharding import Mesh

import spmd

MeshOf = Callable[[int], Mesh]


def lists(batch: Any) -> list[Any]:
    return [np.asarray(value).tolist() for value in batch.values]


def mesh_of_count(count: int) -> Mesh:
    return spmd.make_mesh([f"cpu:{index}" for index in range(count)])


@given(
    st.lists(st.integers(1, 5), max_size=9),
    st.integers(1, 8),
    st.booleans(),
    st.sampled_from([0, 2]),
)
@settings(max_examples=60)
def test_batches_go_round(sizes: list[int], replicas: int, drop: bool, prefetch: int) -> None:
    starts = np.cumsum([0, *sizes])
    source = [np.arange(a, b, dtype=np.int32) for a, b in itertools.pairwise(starts)]
    batches = spmd.distribute(
        source,
        mesh_of_count(replicas),
        per_replica=True,
        drop_remainder=drop,
        prefetch=prefetch,
    )
    groups = [source[i : i + replicas] for i in range(0, len(source), replicas)]
    if drop:
        groups = [group for group in groups if len(group) == replicas]
    seen = list(batches)
    assert len(seen) == len(groups)
    largest = 0
    for batch, group in zip(seen, groups, strict=True):
        counts = [len(block) for block in group] + [0] * (replicas - len(group))
        largest = max([largest, *counts])
        assert lists(batch) == [block.tolist() for block in group] + [[]] * (replicas - len(group))
        assert batch.mask.counts == tuple(counts)
        assert batch.block_shape == (largest,)
        valid = np.asarray(batch.mask.array).reshape(replicas, -1)
        assert valid.tolist() == [[i < count for i in range(largest)] for count in counts]
        # Padding is made of valid rows, so that arithmetic on it stays finite.
        rows = set(np.concatenate(group).tolist())
        assert set(np.asarray(batch.array).tolist()) == rows


def test_rows_lie_on_their_replica(mesh_of: MeshOf) -> None:
    mesh = spmd.make_mesh(["cpu:2", "cpu:0"])
    source = [{"x": np.full((2, 3), i, np.float32), "y": np.array([i, i])} for i in range(2)]
    (batch,) = spmd.distribute(source, mesh, per_replica=True)
    devices = jax.devices("cpu")
    for leaf in (batch["x"], batch["y"]):
        assert [value.devices() for value in leaf.values] == [{devices[2]}, {devices[0]}]
    assert batch["x"].mask is batch["y"].mask
    assert lists(batch["y"]) == [[0, 0], [1, 1]]


@pytest.mark.parametrize("drop", [False, True])
def test_sizes(mesh_of: MeshOf, drop: bool) -> None:
    batches = spmd.distribute(
        np.arange(10, dtype=np.int32),
        mesh_of(2),
        batch_size=3,
        per_replica=True,
        drop_remainder=drop,
    )
    assert batches.batch_size == 6
    assert batches.rows_per_replica == 3
    assert len(batches) == len(list(batches)) == 2
    # Four batches, the last of one row: no replica goes without.
    assert [lists(batch) for batch in batches][1] == [[6, 7, 8], [9]]


def test_length_without_the_last_step(mesh_of: MeshOf) -> None:
    source = [np.zeros(2, np.float32)] * 5
    for drop, expected in ((False, 3), (True, 2)):
        batches = spmd.distribute(source, mesh_of(2), per_replica=True, drop_remainder=drop)
        assert len(batches) == len(list(batches)) == expected


def test_one_program_serves_short_steps(mesh_of: MeshOf) -> None:
    mesh = mesh_of(4)
    step = spmd.Step(lambda x: spmd.all_reduce(spmd.average_loss(x)), mesh)
    batches = spmd.distribute(np.arange(16, dtype=np.float32), mesh, batch_size=3, per_replica=True)
    assert [float(step(batch)) for batch in batches] == [5.5, 13.5]
    assert step.trace_count == 1


def test_full_steps_share_a_mask_array_and_no_mask(mesh_of: MeshOf) -> None:
    first, second = spmd.distribute(
        np.arange(8, dtype=np.int32), mesh_of(2), batch_size=2, per_replica=True
    )
    assert first.mask is not second.mask
    assert not first.mask.padded
    assert not second.mask.padded


def test_passes_start_anew(mesh_of: MeshOf) -> None:
    calls: list[int] = []

    def source() -> Iterator[np.ndarray[Any, Any]]:
        calls.append(1)
        yield from np.arange(6, dtype=np.int32).reshape(3, 2)

    batches = spmd.distribute(source, mesh_of(2), per_replica=True)
    expected = [[[0, 1], [2, 3]], [[4, 5], []]]
    assert [lists(batch) for batch in batches] == expected
    assert [lists(batch) for batch in batches] == expected
    assert len(calls) == 2


def test_leaving_early_closes_the_source(mesh_of: MeshOf) -> None:
    closed = threading.Event()

    def source() -> Iterator[np.ndarray[Any, Any]]:
        try:
            while True:
                yield np.zeros(2, np.float32)
        finally:
            closed.set()

    iterator = iter(spmd.distribute(source, mesh_of(2), per_replica=True))
    assert lists(next(iterator)) == [[0.0, 0.0], [0.0, 0.0]]
    iterator.close()
    assert closed.wait(60)


@pytest.mark.parametrize("prefetch", [0, 2])
def test_a_source_that_fails_in_the_middle_of_a_step(mesh_of: MeshOf, prefetch: int) -> None:
    def source() -> Iterator[np.ndarray[Any, Any]]:
        for index in range(3):
            yield np.full(2, index, np.int32)
        raise OSError("disk")

    iterator = iter(spmd.distribute(source, mesh_of(2), per_replica=True, prefetch=prefetch))
    assert lists(next(iterator)) == [[0, 0], [1, 1]]
    with pytest.raises(OSError, match="disk"):
        next(iterator)


@pytest.mark.parametrize(
    "second",
    [{"x": np.zeros(2)}, (np.zeros(2), np.zeros(2)), [np.zeros(2)]],
    ids=["dict", "tuple", "list"],
)
def test_replicas_get_one_structure(mesh_of: MeshOf, second: Any) -> None:
    def source() -> Iterator[Any]:
        yield np.zeros(2)
        yield second

    with pytest.raises(spmd.errors.BatchError, match="structure"):
        list(spmd.distribute(source, mesh_of(2), per_replica=True))


def test_replicas_get_rows_of_one_shape(mesh_of: MeshOf) -> None:
    source = [np.zeros((2, 3), np.float32), np.zeros((2, 4), np.float32)]
    with pytest.raises(spmd.errors.BatchError, match=r"shape|\(3,\)"):
        list(spmd.distribute(source, mesh_of(2), per_replica=True))


def test_replicas_get_rows_of_one_type(mesh_of: MeshOf) -> None:
    """Else the type would depend on which batches happen to meet in a step."""
    source = [np.zeros(2, np.int32), np.full(2, 0.5, np.float32)]
    with pytest.raises(spmd.errors.BatchError, match=r"float32|type"):
        list(spmd.distribute(source, mesh_of(2), per_replica=True))


def test_rows_without_a_batch_axis_are_refused(mesh_of: MeshOf) -> None:
    with pytest.raises(spmd.errors.BatchError, match="batch axis"):
        list(spmd.distribute([np.float32(1), np.float32(2)], mesh_of(2), per_replica=True))


def test_empty_batches_take_their_turn(mesh_of: MeshOf) -> None:
    source = [np.arange(2), np.arange(0), np.arange(0), np.arange(3)]
    batches = spmd.distribute(source, mesh_of(2), per_replica=True)
    assert [lists(batch) for batch in batches] == [[[0, 1], []], [[], [0, 1, 2]]]


def test_memory_of_the_source_may_be_used_again(mesh_of: MeshOf) -> None:
    buffer = np.zeros(2, np.int32)

    def source() -> Iterator[np.ndarray[Any, Any]]:
        for index in range(4):
            buffer[:] = index
            yield buffer

    batches = list(spmd.distribute(source, mesh_of(2), per_replica=True))
    assert [lists(batch) for batch in batches] == [[[0, 0], [1, 1]], [[2, 2], [3, 3]]]
