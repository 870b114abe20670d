"""Several batches in one program."""

import jax.numpy as jnp
import numpy as np
import pytest

import spmd
from spmd.step.loop import Repetition, for_each


def adding(mesh):
    total = spmd.Variable(jnp.float32(0), name="total")

    def add(batch):
        total.value = total.value + spmd.reduce(spmd.run(lambda x: x.sum(), batch))
        return {"total": total.value}

    return total, Repetition(add, mesh)


def batches_of(rows, mesh, size):
    return iter(spmd.distribute(np.arange(rows, dtype=np.float32), mesh, batch_size=size))


def test_results_are_stacked_and_the_rest_is_run_one_by_one(mesh_of):
    mesh = mesh_of(2)
    total, repeated = adding(mesh)
    batches = batches_of(12, mesh, 2)
    sums = [repeated(batches, 4)["total"].tolist() for _ in range(2)]
    assert sums == [[1, 6, 15, 28], [45, 66]]
    assert float(total.value) == 66
    with pytest.raises(StopIteration):
        repeated(batches, 4)


def test_batches_of_several_shapes_are_run_one_by_one(mesh_of):
    mesh = mesh_of(1)
    _, repeated = adding(mesh)
    batches = [*batches_of(4, mesh, 2), *batches_of(3, mesh, 3)]
    assert repeated(iter(batches), 3)["total"].tolist() == [1, 6, 9]


def test_it_works_between_the_replicas_only(mesh_of):
    with pytest.raises(spmd.errors.ReplicaContextError, match="CrossReplicaStep"):
        spmd.Step(lambda x: for_each(lambda batch: batch, [x]), mesh_of(1))(jnp.ones(2))


def test_a_variable_keeps_its_type(mesh_of):
    count = spmd.Variable(jnp.float32(0), name="count")

    def add(batch):
        count.value = jnp.int32(1)

    repeated = Repetition(add, mesh_of(1))
    with pytest.raises(spmd.errors.ControlFlowError, match=r"changes count from float32\[\]"):
        repeated(batches_of(4, mesh_of(1), 2), 2)


def test_what_the_function_leaves_alone_is_not_written(mesh_of):
    mesh = mesh_of(2)
    read, written = (spmd.Variable(jnp.float32(2), name=name) for name in ("read", "written"))

    def add(batch):
        total = spmd.reduce(spmd.run(lambda x: x.sum(), batch))
        written.value = written.value + read.value * total

    repeated, batches = Repetition(add, mesh), batches_of(8, mesh, 2)
    repeated(batches, 2)
    before = read.value
    repeated(batches, 2)
    assert float(written.value) == 2 + 2 * sum(range(8))
    assert read.value is before
