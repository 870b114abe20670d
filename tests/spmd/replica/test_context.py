"""Where code runs: replica ids, valid rows, and what other threads see of a step."""

import contextvars
import threading
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh

import spmd
from spmd.replica.context import current_frame

MeshOf = Callable[[int], Mesh]


def batches_of(rows: int, mesh: Mesh, batch_size: int = 8) -> list[Any]:
    data = {"x": np.arange(rows, dtype=np.float32), "y": np.ones((rows, 2), np.int32)}
    return list(spmd.distribute(data, mesh, batch_size=batch_size, prefetch=0))


def lists(value: Any) -> list[Any]:
    return [np.asarray(block).tolist() for block in value]


def test_outside_of_a_step() -> None:
    assert not spmd.replica.in_replica()
    assert current_frame() is None
    assert (int(spmd.replica_id()), spmd.replica_id().dtype) == (0, np.int32)


@pytest.mark.parametrize("replicas", [1, 4])
def test_replicas_count_from_zero(mesh_of: MeshOf, replicas: int) -> None:
    step = spmd.Step(spmd.replica_id, mesh_of(replicas), keep_per_replica=True)
    assert lists(step()) == list(range(replicas))
    assert step().dtype == np.int32


@pytest.mark.parametrize("replicas", [1, 4])
def test_the_first_replica_of_a_process(mesh_of: MeshOf, replicas: int) -> None:
    assert spmd.replica.is_first_of_process() is True

    def first() -> Any:
        return jnp.asarray(spmd.replica.is_first_of_process())

    step = spmd.Step(first, mesh_of(replicas), keep_per_replica=True)
    assert lists(step()) == [True] + [False] * (replicas - 1)


def test_a_replica_knows_its_number_wherever_jax_calls_it(mesh_of: MeshOf) -> None:
    def step() -> Any:
        scanned = jax.lax.scan(lambda c, _: (c + spmd.replica_id(), None), 0, None, length=3)[0]
        mapped = jax.vmap(lambda x: x + spmd.replica_id())(jnp.arange(2))
        return jax.jit(spmd.replica_id)(), scanned, mapped

    jitted, scanned, mapped = spmd.Step(step, mesh_of(3), keep_per_replica=True)()
    assert lists(jitted) == [0, 1, 2]
    assert lists(scanned) == [0, 3, 6]
    assert lists(mapped) == [[0, 1], [1, 2], [2, 3]]


def test_in_a_replica_and_between_replicas(mesh_of: MeshOf) -> None:
    seen: list[tuple[str, bool, bool]] = []

    def look(where: str) -> None:
        seen.append((where, spmd.replica.in_replica(), current_frame() is not None))

    def replica() -> Any:
        look("replica")
        return spmd.replica_id()

    def program() -> Any:
        look("before")
        first = spmd.run(replica)
        look("after")
        return spmd.reduce(first), spmd.replica_id()

    total, between = spmd.step.CrossReplicaStep(program, mesh_of(4))()
    assert (int(total), int(between)) == (6, 0)
    assert seen == [("before", False, True), ("replica", True, True), ("after", False, True)]
    assert not spmd.replica.in_replica()


def test_nothing_is_left_of_a_step_that_raises(mesh_of: MeshOf) -> None:
    def step() -> None:
        raise KeyError("on purpose")

    with pytest.raises(KeyError, match="on purpose"):
        spmd.Step(step, mesh_of(2))()
    assert not spmd.replica.in_replica()
    assert current_frame() is None


# Valid rows.


@pytest.mark.parametrize(("rows", "counts"), [(8, [2, 2, 2, 2]), (7, None), (5, None), (1, None)])
def test_valid_rows_tell_data_from_padding(
    mesh_of: MeshOf, rows: int, counts: list[int] | None
) -> None:
    mesh = mesh_of(4)
    batch = batches_of(8 + rows, mesh)[1]
    step = spmd.Step(lambda batch: spmd.replica.all_gather(spmd.valid_rows()), mesh)
    valid = np.asarray(step(batch)).reshape(4, 2)
    per_replica = [len(block) for block in batch["x"]]
    assert valid.dtype == np.bool_
    assert valid.tolist() == [[i < count for i in range(2)] for count in per_replica]
    assert sum(per_replica) == rows


@pytest.mark.parametrize(
    "name",
    [lambda b: b, lambda b: b["x"], lambda b: b["y"], lambda b: [b["y"], b["x"]]],
    ids=["batch", "one array", "another array", "arrays"],
)
def test_the_rows_of_one_batch_of_several(mesh_of: MeshOf, name: Any) -> None:
    mesh = mesh_of(2)
    small, large = batches_of(5, mesh, 4)[1], batches_of(11, mesh, 8)[1]

    def step(a: Any, b: Any) -> Any:
        return spmd.replica.all_gather(spmd.valid_rows(name(a))), spmd.replica.all_gather(
            spmd.valid_rows(name(b))
        )

    run = spmd.Step(step, mesh)
    one, two = (np.asarray(value) for value in run(small, large))
    assert (one.shape, int(one.sum())) == ((4,), 1)
    assert (two.shape, int(two.sum())) == ((8,), 3)
    two, one = (np.asarray(value) for value in run(large, small))
    assert (int(one.sum()), int(two.sum())) == (1, 3)


def test_the_arrays_of_one_batch_share_their_rows(mesh_of: MeshOf) -> None:
    mesh = mesh_of(2)
    batch = batches_of(5, mesh, 4)[1]
    step = spmd.Step(lambda x, y: spmd.replica.all_gather(spmd.valid_rows()), mesh)
    assert np.asarray(step(batch["x"], batch["y"])).tolist() == [True, False, False, False]


def test_valid_rows_outside_of_a_step(mesh_of: MeshOf) -> None:
    with pytest.raises(
        spmd.errors.ReplicaContextError, match="only inside a function that a step runs"
    ):
        spmd.valid_rows()
    with pytest.raises(spmd.errors.ReplicaContextError, match="per replica"):
        spmd.step.CrossReplicaStep(spmd.valid_rows, mesh_of(2))()


def test_a_step_without_batches_has_no_rows(mesh_of: MeshOf) -> None:
    with pytest.raises(spmd.errors.BatchError, match=r"no distributed batch.*spmd\.distribute"):
        spmd.Step(lambda x: spmd.valid_rows(), mesh_of(2))(np.ones(4))


@pytest.mark.parametrize("other", [lambda x: x * 2, lambda x: jnp.ones(4)], ids=["new", "constant"])
def test_an_array_that_is_no_part_of_a_batch_has_no_rows(mesh_of: MeshOf, other: Any) -> None:
    mesh = mesh_of(2)
    step = spmd.Step(lambda batch: spmd.valid_rows(other(batch["x"])).sum(), mesh)
    with pytest.raises(spmd.errors.BatchError, match="not a part of one as the step received it"):
        step(batches_of(8, mesh)[0])


def test_two_batches_without_a_name(mesh_of: MeshOf) -> None:
    mesh = mesh_of(2)
    one, two = batches_of(16, mesh)
    step = spmd.Step(lambda a, b: spmd.valid_rows().sum(), mesh)
    with pytest.raises(spmd.errors.BatchError, match="received 2 batches"):
        step(one, two)
    with pytest.raises(spmd.errors.BatchError, match="received 2 batches"):
        spmd.Step(lambda a, b: spmd.valid_rows([a, b]).sum(), mesh)(one, two)


# Threads.


def on_a_thread(function: Callable[[], Any]) -> Any:
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(function()))
    thread.start()
    thread.join()
    return results[0]


def test_other_threads_see_no_step(mesh_of: MeshOf) -> None:
    def where() -> tuple[bool, bool]:
        return current_frame() is not None, spmd.replica.in_replica()

    seen: list[tuple[bool, bool]] = []

    def step() -> None:
        context = contextvars.copy_context()
        empty = contextvars.Context()
        seen.extend(
            [
                where(),
                on_a_thread(lambda: empty.run(where)),
                # Who hands its context on hands the step on.
                on_a_thread(lambda: context.run(where)),
                where(),
            ]
        )

    spmd.Step(step, mesh_of(2))()
    assert seen == [(True, True), (False, False), (True, True), (True, True)]


def test_a_plain_thread_runs_as_if_outside_of_a_step(mesh_of: MeshOf) -> None:
    def reduce_there() -> str:
        try:
            spmd.all_reduce(1.0)
        except spmd.errors.ReplicaContextError:
            return "refused"
        return "done"

    seen: list[str] = []
    spmd.Step(lambda: seen.append(on_a_thread(reduce_there)), mesh_of(2))()
    assert seen == ["refused"]


def test_a_thread_may_run_a_step_of_its_own(mesh_of: MeshOf) -> None:
    step = spmd.Step(lambda: spmd.all_reduce(spmd.replica_id()), mesh_of(4))
    assert int(on_a_thread(step)) == 6
    assert int(step()) == 6
