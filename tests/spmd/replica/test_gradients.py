"""The sum of gradients over replicas as a link of an Optax chain."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jax.sharding import Mesh

import spmd

MeshOf = Callable[[int], Mesh]
GRADIENTS = {"w": jnp.array([1.0, -2.0]), "b": (jnp.array(3.0),)}


def updates_of(gradients: Any) -> Any:
    tx = spmd.sum_over_replicas()
    updates, _ = tx.update(gradients, tx.init(gradients))
    return updates


def test_it_has_no_state(mesh_of: MeshOf) -> None:
    tx = spmd.sum_over_replicas()
    state = tx.init(GRADIENTS)
    assert jax.tree.leaves(state) == []
    _, after = tx.update(GRADIENTS, state, GRADIENTS)
    assert after == state

    def step() -> Any:
        updates, inner = tx.update(GRADIENTS, state)
        assert inner == state
        return updates

    np.testing.assert_array_equal(spmd.Step(step, mesh_of(2))()["w"], [2.0, -4.0])


def test_outside_of_a_step_gradients_pass_unchanged(mesh_of: MeshOf) -> None:
    for updates in (updates_of(GRADIENTS), jax.jit(updates_of)(GRADIENTS)):
        assert jax.tree.structure(updates) == jax.tree.structure(GRADIENTS)
        jax.tree.map(np.testing.assert_array_equal, updates, GRADIENTS)
    # Between the replicas there is one value, as there is outside.
    step = spmd.step.CrossReplicaStep(lambda: updates_of(GRADIENTS), mesh_of(4))
    jax.tree.map(np.testing.assert_array_equal, step(), GRADIENTS)


@pytest.mark.parametrize("replicas", [1, 4])
def test_in_a_replica_they_are_summed(mesh_of: MeshOf, replicas: int) -> None:
    def step() -> Any:
        return updates_of(jax.tree.map(lambda g: g * (spmd.replica_id() + 1), GRADIENTS))

    factor = sum(range(1, replicas + 1))
    updates = spmd.Step(step, mesh_of(replicas))()
    np.testing.assert_array_equal(updates["w"], [factor, -2.0 * factor])
    np.testing.assert_array_equal(updates["b"][0], 3.0 * factor)


def test_a_missing_gradient_stays_missing(mesh_of: MeshOf) -> None:
    step = spmd.Step(lambda: updates_of({"w": jnp.ones(2), "frozen": None}), mesh_of(2))
    updates = step()
    np.testing.assert_array_equal(updates["w"], [2.0, 2.0])
    assert updates["frozen"] is None


def test_clipping_sees_the_whole_gradient(mesh_of: MeshOf) -> None:
    # Clipped before the sum, the parts would add up to 4 rather than 1.
    tx = optax.chain(spmd.sum_over_replicas(), optax.clip_by_global_norm(1.0))

    def step() -> Any:
        gradient = jnp.array([3.0, 4.0])
        return tx.update(gradient, tx.init(gradient))[0]

    np.testing.assert_allclose(spmd.Step(step, mesh_of(4))(), [0.6, 0.8], rtol=1e-6)


def test_a_finite_gradient_is_not_a_matter_of_rows(mesh_of: MeshOf) -> None:
    # Nothing here has statistics over rows, so a NaN is the user's own, and shows.
    def step(x: Any) -> Any:
        del x
        return updates_of(jnp.where(spmd.replica_id() == 1, jnp.nan, jnp.ones(2)))

    mesh = mesh_of(2)
    batch = next(iter(spmd.distribute(np.ones(4, np.float32), mesh, batch_size=4)))
    assert np.isnan(spmd.Step(step, mesh)(batch)).all()
