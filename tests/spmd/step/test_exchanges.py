"""Every collective, on replicas with different numbers of rows, against the same on replicas with equally many."""

import functools

import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import spmd

AXIS = "replica"
PAIRS = [[0, 1], [2, 3]]

COLLECTIVES = {
    "psum": lambda s, v: lax.psum(s, AXIS),
    "psum in groups": lambda s, v: lax.psum(s, AXIS, axis_index_groups=PAIRS),
    "pmean": lambda s, v: lax.pmean(s, AXIS),
    "pmax": lambda s, v: lax.pmax(s, AXIS),
    "pmin in groups": lambda s, v: lax.pmin(s, AXIS, axis_index_groups=PAIRS),
    "all_gather": lambda s, v: lax.all_gather(v, AXIS, axis=1),
    "all_gather, tiled": lambda s, v: lax.all_gather(v, AXIS, tiled=True),
    "all_gather in groups": lambda s, v: lax.all_gather(v, AXIS, axis_index_groups=PAIRS),
    "psum_scatter": lambda s, v: lax.psum_scatter(v, AXIS),
    "psum_scatter, tiled": lambda s, v: lax.psum_scatter(v, AXIS, tiled=True),
    "ppermute": lambda s, v: lax.ppermute(v, AXIS, [(0, 1), (1, 2), (2, 3)]),
    "all_to_all": lambda s, v: lax.all_to_all(v, AXIS, 0, 0),
    "all_to_all, tiled": lambda s, v: lax.all_to_all(v[None], AXIS, 1, 0, tiled=True),
    "axis_index": lambda s, v: lax.axis_index(AXIS),
    "broadcast": lambda s, v: spmd.replica.broadcast(s, 3),
    "first": lambda s, v: spmd.replica.combine(s, "first"),
}


def results(mesh, collective, uneven):
    """What four replicas get; with 2, 2, 1 and no rows, or with as many, but the same numbers."""

    def step(x):
        total = x.sum()
        if uneven:
            total = total + 0 * x.shape[0]
        return collective(total, total * jnp.arange(1.0, 5.0))

    rows = np.array([1, 2, 3, 4, 5], np.float32) if uneven else np.array([3, 7, 5, 0], np.float32)
    (batch,) = spmd.distribute(rows, mesh, batch_size=8 if uneven else 4)
    run = spmd.Step(step, mesh, keep_per_replica=True)
    found = [np.asarray(value) for value in run(batch)]
    return found, run.explain().path


@pytest.mark.parametrize("name", COLLECTIVES)
def test_collectives(mesh_of, name):
    get = functools.partial(results, mesh_of(4), COLLECTIVES[name])
    (found, path), (expected, _) = get(uneven=True), get(uneven=False)
    assert path == ("masked" if name == "axis_index" else "unequal")
    np.testing.assert_allclose(found, expected)


def test_sums_in_two_levels_are_one_value(mesh_of):
    options = spmd.replica.CollectiveOptions(group_size=2)
    weight = spmd.Variable(jnp.ones(3), name="weight")

    def step(x):
        with spmd.replica.collective_options(options):
            (total,) = spmd.replica.sum_gradients([x.sum() * jnp.arange(1.0, 4.0)])
        weight.value = weight.value + total

    (batch,) = spmd.distribute(np.arange(1, 6, dtype=np.float32), mesh_of(4), batch_size=8)
    run = spmd.Step(step, mesh_of(4))
    run(batch)
    np.testing.assert_allclose(weight.value, 1 + 15 * np.arange(1.0, 4.0))
    assert run.explain().path == "unequal"


def test_values_of_several_shapes_are_not_combined(mesh_of):
    (batch,) = spmd.distribute(np.ones(3, np.float32), mesh_of(2), batch_size=4)
    with pytest.raises(spmd.errors.BatchError, match=r"psum at .*\[\(2,\), \(1,\)\]"):
        spmd.Step(lambda x: lax.psum(x, AXIS), mesh_of(2))(batch)
