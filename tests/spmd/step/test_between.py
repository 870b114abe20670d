"""`reduce`, `gather` and `local_values` against NumPy, outside of a step and as a part of one."""

import functools
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax.sharding import Mesh

import spmd

MeshOf = Callable[[int], Mesh]
DTYPES = [np.float32, np.int32, np.uint8, np.int8, np.bool_, ml_dtypes.bfloat16, np.float16]


@functools.cache
def mesh_of_size(replicas: int) -> Mesh:
    return spmd.make_mesh([f"cpu:{index}" for index in range(replicas)])


@functools.cache
def identity(replicas: int) -> Any:
    """A step that returns its rows: results whose first axis counts rows."""
    options = spmd.StepOptions(max_programs=8, warn_after=10**6)
    return spmd.Step(lambda x: x, mesh_of_size(replicas), options=options)


def numbers(dtype: Any, shape: tuple[int, ...], seed: int) -> np.ndarray[Any, Any]:
    # Small whole numbers, so that sums are exact in every type, and in any order.
    return np.random.default_rng(seed).integers(0, 4, shape).astype(dtype)


def rows_result(
    data: np.ndarray[Any, Any], replicas: int, batch_size: int
) -> tuple[Any, list[np.ndarray[Any, Any]]]:
    """The last batch of some data as a step's result, and the same as one block per replica."""
    mesh = mesh_of_size(replicas)
    batch = list(spmd.distribute(data, mesh, batch_size=batch_size, prefetch=0))[-1]
    left = (len(data) - 1) % batch_size + 1
    bounds = np.cumsum(batch.mask.counts)[:-1]
    return identity(replicas)(batch), np.split(data[-left:], bounds)


cases = st.tuples(
    st.sampled_from(DTYPES),
    st.sampled_from([1, 2, 4, 8]),  # replicas
    st.sampled_from([1, 3, 8]),  # rows of a full batch
    st.integers(1, 16),  # rows
    st.sampled_from([(), (2,), (2, 3)]),
    st.integers(0, 9),
)


@given(cases)
@settings(max_examples=12)
def test_rows_against_numpy(case: Any) -> None:
    dtype, replicas, batch_size, rows, shape, seed = case
    data = numbers(dtype, (rows, *shape), seed)
    value, blocks = rows_result(data, replicas, batch_size)
    valid = np.concatenate(blocks)
    np.testing.assert_array_equal(spmd.gather(value), valid)
    assert spmd.gather(value).dtype == dtype
    for local, block in zip(spmd.step.local_values(value), blocks, strict=True):
        np.testing.assert_array_equal(local, block)
    wide = valid.astype(np.float64)
    np.testing.assert_allclose(
        np.asarray(spmd.reduce(value, "sum", axis=0), np.float64), wide.sum(0)
    )
    np.testing.assert_allclose(
        np.asarray(spmd.reduce(value, "mean", axis=0), np.float64), wide.mean(0), rtol=1e-2
    )


@given(
    st.sampled_from(DTYPES),
    st.sampled_from([1, 2, 4, 8]),
    st.sampled_from([(), (3,), (2, 3)]),
    st.integers(0, 9),
)
@settings(max_examples=10)
def test_one_value_per_replica_against_numpy(
    dtype: Any, replicas: int, shape: tuple[int, ...], seed: int
) -> None:
    table = numbers(dtype, (replicas, *shape), seed)
    value = stack(table, replicas)
    wide = table.astype(np.float64)
    for copy, expected in zip(spmd.step.local_values(value), table, strict=True):
        np.testing.assert_array_equal(copy, expected)
    check = np.testing.assert_allclose
    check(np.asarray(spmd.reduce(value, "sum"), np.float64), wide.sum(0))
    check(np.asarray(spmd.reduce(value, "mean"), np.float64), wide.mean(0), rtol=1e-2)
    for axis in range(len(shape)):
        total = np.asarray(spmd.reduce(value, "sum", axis=axis), np.float64)
        check(total, wide.sum(axis=(0, axis + 1)))
        np.testing.assert_array_equal(
            spmd.gather(value, axis=axis), np.concatenate(list(table), axis=axis)
        )


def stack(table: np.ndarray[Any, Any], replicas: int) -> Any:
    from spmd.replica.stacking import stack_replicas

    mesh = mesh_of_size(replicas)
    return stack_replicas(list(table), mesh)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", ["sum", "mean"])
@pytest.mark.parametrize("axis", [None, 0])
def test_a_reduction_is_the_same_inside_a_step_and_outside(
    dtype: Any, op: Any, axis: int | None
) -> None:
    mesh = mesh_of_size(2)

    def values() -> Any:
        # 200 and 201 in a byte, or near it: a sum that wraps shows.
        return (jnp.full((3,), 100) + 100 + spmd.replica_id()).astype(dtype)

    outside = spmd.reduce(spmd.Step(values, mesh, keep_per_replica=True)(), op, axis)
    inside = spmd.step.CrossReplicaStep(lambda: spmd.reduce(spmd.run(values), op, axis), mesh)()
    assert inside.dtype == outside.dtype
    np.testing.assert_array_equal(inside, outside)


def test_sums_keep_their_type_and_means_are_fractions() -> None:
    value = stack(np.array([1, 2], np.int8), 2)
    assert spmd.reduce(value, "sum").dtype == np.int8
    assert float(spmd.reduce(value, "mean")) == 1.5
    flags = stack(np.array([True, True]), 2)
    assert int(spmd.reduce(flags, "sum")) == 2
    assert float(spmd.reduce(flags, "mean")) == 1.0


@pytest.mark.parametrize("dtype", [jnp.float16, jnp.bfloat16])
def test_a_mean_may_have_a_sum_that_its_type_cannot_hold(dtype: Any) -> None:
    mesh = mesh_of_size(2)
    values = np.full(70_000, 3.0)  # float16 ends at 65504
    (batch,) = spmd.distribute(jnp.asarray(values, dtype), mesh, batch_size=values.size)
    outside = spmd.reduce(batch, "mean", axis=0)
    inside = spmd.step.CrossReplicaStep(lambda x: spmd.reduce(x, "mean", axis=0), mesh)(batch)
    for mean in (outside, inside):
        assert mean.dtype == dtype
        assert float(mean) == 3.0
    large = stack(np.array([60_000.0, 60_000.0]).astype(dtype), 2)
    np.testing.assert_allclose(float(spmd.reduce(large, "mean")), 60_000.0, rtol=0.01)


@pytest.mark.parametrize("shape", [(4, 0), (3, 0, 2)])
def test_rows_without_elements(shape: Any) -> None:
    (batch,) = spmd.distribute(np.ones(shape, np.float32), mesh_of_size(2), batch_size=4)
    assert spmd.gather(batch).shape == shape
    for op in ("sum", "mean"):
        assert spmd.reduce(batch, op, axis=0).shape == shape[1:]


def test_rows_of_replicas_that_hold_different_numbers_are_not_combined_one_by_one() -> None:
    (batch,) = spmd.distribute(np.ones((3, 2), np.float32), mesh_of_size(2), batch_size=4)
    for axis in (None, 1, -1):
        with pytest.raises(spmd.errors.BatchError, match=r"hold \[2, 1\] rows"):
            spmd.reduce(batch, "sum", axis=axis)
    assert float(spmd.reduce(batch, "sum", axis=(0, 1))) == 6.0
    assert float(spmd.reduce(batch, "mean", axis=(1, 0))) == 1.0


def test_padding_does_not_lengthen_what_is_combined_row_by_row() -> None:
    data = np.arange(6, dtype=np.float32)
    batches = list(spmd.distribute(data, mesh_of_size(2), batch_size=4))
    assert spmd.reduce(batches[1], "sum").tolist() == [9.0]
    (single,) = list(spmd.distribute(data[:3], mesh_of_size(1), batch_size=4))
    assert spmd.reduce(single, "sum").tolist() == [0.0, 1.0, 2.0]


def test_an_axis_is_a_number() -> None:
    (batch,) = spmd.distribute(np.ones((4, 2), np.float32), mesh_of_size(2), batch_size=4)
    with pytest.raises(TypeError, match="An axis is an integer"):
        spmd.reduce(batch, "sum", axis=[0, 1])
    with pytest.raises(ValueError, match="axis=None"):
        spmd.gather(batch, axis=None)


def test_padding_that_is_not_a_number_is_left_out() -> None:
    mesh = mesh_of_size(2)
    step = spmd.Step(
        lambda x: jnp.where(spmd.valid_rows(), x, jnp.nan), mesh, keep_per_replica=True
    )
    batch = list(spmd.distribute(np.arange(5.0, dtype=np.float32), mesh, batch_size=4))[-1]
    value = step(batch)
    assert float(spmd.reduce(value, "mean", axis=0)) == 4.0
    assert float(spmd.reduce(value, "sum", axis=0)) == 4.0
    np.testing.assert_array_equal(spmd.gather(value), [4.0])
    assert [v.tolist() for v in spmd.step.local_values(value)] == [[4.0], []]


def test_padding_inside_a_program_of_several_runs() -> None:
    mesh = mesh_of_size(2)

    def program(x: Any) -> Any:
        rows = spmd.run(lambda x: x * 2, x)
        return spmd.reduce(rows, "sum", axis=0), spmd.reduce(rows, "mean", axis=0)

    step = spmd.step.CrossReplicaStep(program, mesh)
    for batch, total in zip(
        spmd.distribute(np.arange(5.0, dtype=np.float32), mesh, batch_size=4), (12, 8), strict=True
    ):
        found, mean = step(batch)
        assert float(found) == total
        assert float(mean) == total / (4 if total == 12 else 1)


@pytest.mark.parametrize("use", [spmd.gather, spmd.step.local_values])
def test_rows_that_a_step_gathers_leave_padding_out(use: Any) -> None:
    mesh = mesh_of_size(2)
    step = spmd.step.CrossReplicaStep(lambda x: use(spmd.run(lambda x: x * 2, x)), mesh)
    found = [
        step(batch) if use is spmd.gather else np.concatenate(step(batch))
        for batch in spmd.distribute(np.arange(5.0, dtype=np.float32), mesh, batch_size=4)
    ]
    assert [rows.tolist() for rows in found] == [[0.0, 2.0, 4.0, 6.0], [8.0]]


def test_pytrees_keep_their_structure() -> None:
    value = {"a": (stack(np.arange(2.0, dtype=np.float32), 2), None)}
    assert spmd.reduce(value) == {"a": (1.0, None)}
    assert [v["a"] for v in spmd.step.local_values(value)] == [(0.0, None), (1.0, None)]


def test_wrong_uses_say_so() -> None:
    value = stack(np.ones((2, 3), np.float32), 2)
    with pytest.raises(ValueError, match="'sum' or 'mean'"):
        spmd.reduce(value, "max")  # type: ignore[arg-type]
    for axis in (1, -2):
        with pytest.raises(ValueError, match=f"no axis {axis}.*1 axes"):
            spmd.reduce(value, axis=axis)
        with pytest.raises(ValueError, match=f"no axis {axis}"):
            spmd.gather(value, axis=axis)
    for function in (spmd.reduce, spmd.gather, spmd.step.local_values):
        with pytest.raises(TypeError, match="one value already"):
            function(jnp.ones(3))
        step = spmd.Step(lambda x, f=function: f(x), mesh_of_size(2))
        with pytest.raises(spmd.errors.ReplicaContextError, match=r"A replica uses spmd\.all_"):
            step(1.0)
    with pytest.raises(spmd.errors.ReplicaContextError, match="CrossReplicaStep"):
        spmd.run(lambda: 1.0)
