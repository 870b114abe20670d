"""Collectives against NumPy, for pytrees and types; and where they cannot be called."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh

import spmd

MeshOf = Callable[[int], Mesh]
OPS: dict[Any, Callable[..., Any]] = {"sum": np.sum, "mean": np.mean, "min": np.min, "max": np.max}
COLLECTIVES: dict[str, Callable[[Any], Any]] = {
    "all_reduce": spmd.all_reduce,
    "all_gather": spmd.replica.all_gather,
    "broadcast": spmd.replica.broadcast,
}


def blocks(replicas: int, shape: tuple[int, ...], dtype: Any = np.float32) -> np.ndarray[Any, Any]:
    """What every replica has, along a first axis."""
    return np.random.default_rng(1).integers(-20, 20, (replicas, *shape)).astype(dtype)


def mine(table: np.ndarray[Any, Any]) -> Any:
    return jnp.asarray(table)[spmd.replica_id()]


def same_everywhere(mesh: Mesh, function: Callable[[], Any]) -> Any:
    """Runs a step whose result must be the same on every replica, bit by bit; returns it."""
    result = spmd.Step(function, mesh, keep_per_replica=True)()
    first, *others = spmd.step.local_values(result)
    for other in others:
        np.testing.assert_equal(to_numpy(other), to_numpy(first))
    return to_numpy(first)


def to_numpy(tree: Any) -> Any:
    return (
        {k: np.asarray(v) for k, v in tree.items()} if isinstance(tree, dict) else np.asarray(tree)
    )


@pytest.mark.parametrize("replicas", [1, 4])
@pytest.mark.parametrize("op", OPS)
def test_all_reduce(mesh_of: MeshOf, op: Any, replicas: int) -> None:
    matrix, scalar = blocks(replicas, (2, 3)), blocks(replicas, ())
    result = same_everywhere(
        mesh_of(replicas),
        lambda: spmd.all_reduce({"matrix": mine(matrix), "scalar": mine(scalar)}, op),
    )
    np.testing.assert_allclose(result["matrix"], OPS[op](matrix, axis=0), rtol=1e-6)
    np.testing.assert_allclose(result["scalar"], OPS[op](scalar, axis=0), rtol=1e-6)


@pytest.mark.parametrize("op", OPS)
def test_all_reduce_of_integers(mesh_of: MeshOf, op: Any) -> None:
    table = np.array([[1, 5], [2, 5], [4, 5], [3, 4]], np.int32)
    result = same_everywhere(mesh_of(4), lambda: spmd.all_reduce(mine(table), op))
    np.testing.assert_allclose(result, OPS[op](table, axis=0))


def test_all_reduce_adds_up_by_default(mesh_of: MeshOf) -> None:
    assert float(spmd.Step(lambda: spmd.all_reduce(2.0), mesh_of(4))()) == 8.0


def test_all_reduce_of_nothing(mesh_of: MeshOf) -> None:
    assert spmd.Step(lambda: spmd.all_reduce({}), mesh_of(2))() == {}


def test_an_unknown_reduction(mesh_of: MeshOf) -> None:
    op: Any = "average"
    with pytest.raises(ValueError, match=r"'average'.*'sum', 'mean', 'min', 'max'"):
        spmd.Step(lambda: spmd.all_reduce(1.0, op), mesh_of(2))()


@pytest.mark.parametrize("replicas", [1, 4])
@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
def test_all_gather(mesh_of: MeshOf, axis: int, replicas: int) -> None:
    table = blocks(replicas, (2, 3, 1))
    result = same_everywhere(mesh_of(replicas), lambda: spmd.replica.all_gather(mine(table), axis))
    np.testing.assert_array_equal(result, np.concatenate(list(table), axis=axis))


@pytest.mark.parametrize("dtype", [np.bool_, np.int32, np.uint8, np.float16])
def test_all_gather_of_pytrees_and_types(mesh_of: MeshOf, dtype: Any) -> None:
    one, two = blocks(4, (2,), dtype), blocks(4, (1, 2), np.float32)
    result = same_everywhere(
        mesh_of(4), lambda: spmd.replica.all_gather({"one": mine(one), "two": mine(two)})
    )
    assert result["one"].dtype == dtype
    np.testing.assert_array_equal(result["one"], one.reshape(-1))
    np.testing.assert_array_equal(result["two"], two.reshape(4, 2))


def test_a_scalar_cannot_be_concatenated(mesh_of: MeshOf) -> None:
    with pytest.raises(ValueError, match=r"scalar of type int32. Give it one: x\[None\]"):
        spmd.Step(lambda: spmd.replica.all_gather({"a": spmd.replica_id()}), mesh_of(2))()


@pytest.mark.parametrize("source", [0, 2, 3])
def test_broadcast(mesh_of: MeshOf, source: int) -> None:
    matrix, scalar = blocks(4, (2, 3)), blocks(4, (), np.int32)
    result = same_everywhere(
        mesh_of(4), lambda: spmd.replica.broadcast({"m": mine(matrix), "s": mine(scalar)}, source)
    )
    np.testing.assert_array_equal(result["m"], matrix[source])
    np.testing.assert_array_equal(result["s"], scalar[source])
    assert result["s"].dtype == np.int32


def test_broadcast_takes_nothing_from_other_replicas(mesh_of: MeshOf) -> None:
    table = np.full((4, 3), np.nan, np.float32)
    table[1] = [1.0, np.nan, -np.inf]
    table[3, 0] = np.inf
    result = same_everywhere(mesh_of(4), lambda: spmd.replica.broadcast(mine(table), 1))
    np.testing.assert_array_equal(result, table[1])


@pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.int32, np.float16, np.complex64])
def test_broadcast_keeps_types(mesh_of: MeshOf, dtype: Any) -> None:
    table = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 1]]).astype(dtype)
    for source in (0, 1):
        result = same_everywhere(
            mesh_of(3), lambda source=source: spmd.replica.broadcast(mine(table), source)
        )
        assert result.dtype == dtype
        np.testing.assert_array_equal(result, table[source])


def test_a_default_source_is_the_first_replica(mesh_of: MeshOf) -> None:
    step = spmd.Step(lambda: spmd.replica.broadcast(spmd.replica_id() + 5), mesh_of(4))
    assert int(step()) == 5


@pytest.mark.parametrize("name", COLLECTIVES)
def test_outside_of_a_step(mesh_of: MeshOf, name: str) -> None:
    with pytest.raises(
        spmd.errors.ReplicaContextError, match=rf"spmd\.{name} combines.*spmd\.reduce"
    ):
        COLLECTIVES[name](jnp.ones(3))

    def between_replicas() -> Any:
        return COLLECTIVES[name](jnp.ones(3))

    with pytest.raises(spmd.errors.ReplicaContextError, match=name):
        spmd.step.CrossReplicaStep(between_replicas, mesh_of(2))()


@pytest.mark.parametrize("source", [4, -1])
def test_broadcast_from_a_replica_that_does_not_exist_is_refused(
    mesh_of: MeshOf, source: int
) -> None:
    with pytest.raises(ValueError, match=str(source)):
        spmd.Step(lambda: spmd.replica.broadcast(jnp.ones(2), source), mesh_of(4))()


def test_broadcast_of_a_key(mesh_of: MeshOf) -> None:
    step = spmd.Step(
        lambda: spmd.replica.broadcast(jax.random.fold_in(jax.random.key(0), spmd.replica_id()), 1),
        mesh_of(2),
    )
    assert step() == jax.random.fold_in(jax.random.key(0), 1)
