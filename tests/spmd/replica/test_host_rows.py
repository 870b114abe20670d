"""`spmd.replica.HostRows`: a step takes them from the host; whatever else reads them gets an array on the device."""

import jax
import numpy as np
import pytest

import spmd
from spmd.replica import HostRows, PerReplica, RowMask
from spmd.topology import layout_of, place

ROWS = np.arange(6, dtype=np.float32).reshape(3, 2)


@pytest.fixture
def rows():
    layout = layout_of(spmd.make_mesh(["cpu:0"]))
    return HostRows(ROWS, layout.rows, RowMask(place(np.ones(3, bool), layout.rows), (3,), 3))


def test_they_are_read_as_other_per_replica_values(rows):
    assert rows.shape == (3, 2)
    assert rows.dtype == np.float32
    assert isinstance(rows.values[0], jax.Array)
    np.testing.assert_array_equal(rows.numpy(), ROWS)
    np.testing.assert_array_equal(jax.numpy.asarray(rows) + 1, ROWS + 1)
    assert rows.array is rows.array


def test_mapping_them_gives_per_replica_values(rows):
    doubled = jax.tree.map(lambda array: 2 * array, rows)
    assert type(doubled) is PerReplica
    assert doubled.mask is rows.mask
    np.testing.assert_array_equal(doubled.numpy(), 2 * ROWS)
    assert jax.tree.leaves(rows)[0] is rows.array


def test_they_run_the_program_of_rows_on_the_device(rows):
    step = spmd.Step(lambda x: spmd.all_reduce(x.sum()), spmd.make_mesh(["cpu:0"]))
    placed = PerReplica(rows.array, 1, stacked=False, mask=rows.mask)
    fresh = HostRows(ROWS + 1, rows.array.sharding, rows.mask)
    assert rows.key == placed.key
    results = [float(step(x)) for x in (placed, fresh, placed, fresh)]
    assert results == [15, 21, 15, 21]
    assert step.trace_count == 1
    assert fresh._placed is None


def test_a_first_call_takes_them_too(rows):
    step = spmd.Step(lambda x: spmd.all_reduce(x.sum()), spmd.make_mesh(["cpu:0"]))
    assert float(step(rows)) == 15
