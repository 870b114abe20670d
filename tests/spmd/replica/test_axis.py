"""The replica axis in compiled steps and op by op: the same values."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import spmd
from spmd.replica.axis import axis_index, axis_size, blocks_on_axis, over_axis, take_turns

VALUES = np.arange(6, dtype=np.float32).reshape(3, 2) - 2


def both(mesh, function):
    step = spmd.Step(function, mesh, keep_per_replica=True)
    compiled, plain = step(), step.op_by_op()
    jax.tree.map(np.testing.assert_allclose, compiled, plain)
    return plain


@pytest.mark.parametrize("op", ["sum", "mean", "min", "max"])
@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_values_are_combined(mesh_of, op, dtype):
    table = jnp.asarray(VALUES, dtype)
    found = both(mesh_of(3), lambda: over_axis(op, {"x": table[axis_index()]}))
    assert found["x"].dtype == over_dtype(op, dtype)
    np.testing.assert_allclose(found["x"].values[2], getattr(np, op)(np.asarray(table), 0))


def over_dtype(op, dtype):
    return np.float32 if op == "mean" else dtype


def test_booleans_are_counted(mesh_of):
    assert int(both(mesh_of(3), lambda: over_axis("sum", axis_index() > 0)).values[0]) == 2


def test_blocks_come_in_the_order_of_the_replicas(mesh_of):
    found = both(mesh_of(3), lambda: jnp.stack(blocks_on_axis(jnp.float32(1) * axis_index())))
    assert found.values[1].tolist() == [0, 1, 2]


def test_a_step_knows_its_replicas(mesh_of):
    taken = []

    def step():
        taken.append(take_turns() is not None)
        return jnp.int32(axis_size())

    assert int(both(mesh_of(3), step).values[0]) == 3
    assert not taken[0]
    assert taken[-3:] == [True] * 3


def test_shapes_must_agree(mesh_of):
    step = spmd.Step(lambda: spmd.all_reduce(jnp.ones(int(spmd.replica_id()) + 1)), mesh_of(2))
    with pytest.raises(spmd.errors.BatchError, match=r"shapes differ: \[\(1,\), \(2,\)\]"):
        step.op_by_op()
