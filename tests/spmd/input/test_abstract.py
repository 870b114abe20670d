"""Batches without data: what is compiled for them fits the real ones."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh

import spmd
from spmd.replica import is_per_replica

MeshOf = Callable[[int], Mesh]


def total(batch: Any) -> jax.Array:
    valid = spmd.valid_rows()
    return spmd.all_reduce((batch["x"].sum(1) * valid).sum() + (batch["y"] * valid).sum())


@pytest.mark.parametrize("batch_size", [8, 7, 3])
def test_a_step_compiled_ahead_takes_real_batches(mesh_of: MeshOf, batch_size: int) -> None:
    mesh = mesh_of(4)
    step = spmd.Step(total, mesh)
    shapes = {
        "x": jax.ShapeDtypeStruct((batch_size, 3), jnp.float32),
        "y": jax.ShapeDtypeStruct((batch_size,), jnp.int32),
    }
    step.lower(spmd.input.abstract_batch(shapes, mesh)).compile()
    assert step.trace_count == 1
    data = {"x": np.ones((11, 3), np.float32), "y": np.arange(11)}
    read = sum(float(step(b)) for b in spmd.distribute(data, mesh, batch_size=batch_size))
    assert read == 33 + 55
    assert step.trace_count == 1


def test_it_describes_what_distribute_hands_out(mesh_of: MeshOf) -> None:
    mesh = mesh_of(4)
    data = (np.ones((6, 2)), {"n": np.ones((6,), np.int64)})
    described = spmd.input.abstract_batch(data, mesh)
    (real,) = spmd.distribute(data, mesh, batch_size=6)
    assert jax.tree.structure(described) == jax.tree.structure(real)
    pairs = zip(
        jax.tree.leaves(described, is_leaf=is_per_replica),
        jax.tree.leaves(real, is_leaf=is_per_replica),
        strict=True,
    )
    for one, other in pairs:
        assert (one.array.shape, one.dtype) == (other.array.shape, other.dtype)
        assert one.array.sharding == other.array.sharding
        assert one.mask.array.sharding == other.mask.array.sharding
        assert (one.shape, one.stacked, one.num_replicas) == (
            other.shape,
            other.stacked,
            other.num_replicas,
        )
        assert one.mask.counts == other.mask.counts == (2, 2, 2, 0)
        assert one.mask.array.shape == other.mask.array.shape
        assert one.mask is described[0].mask
    assert repr(described[0]) == "PerReplica(4 x float32[2, 2])"


def test_it_checks_as_distribute_does(mesh_of: MeshOf) -> None:
    described = jax.ShapeDtypeStruct((), jnp.float32)
    with pytest.raises(spmd.errors.BatchError, match="is a scalar"):
        spmd.input.abstract_batch(described, mesh_of(2))
    with pytest.raises(spmd.errors.BatchError, match="needs at least 1 row"):
        spmd.input.abstract_batch(np.ones((0, 2)), mesh_of(2))
