"""Traces for devices that are not here."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import spmd
from spmd.step import observe_compilation
from spmd.topology import is_planned, platform_of, target_of, trace_for


@pytest.fixture
def planned():
    trace_for("tpu")
    yield
    trace_for(None)


def test_a_mesh_is_its_own_target() -> None:
    mesh = spmd.make_mesh(["cpu:0", "cpu:1"])
    assert target_of(mesh) is mesh
    assert (platform_of(mesh), is_planned()) == ("cpu", False)


def test_a_planned_trace_names_no_devices(planned) -> None:
    mesh = spmd.make_mesh(["cpu:0", "cpu:1"])
    assert target_of(mesh) == mesh.abstract_mesh
    assert (platform_of(mesh), is_planned()) == ("tpu", True)


def test_a_planned_program_runs_here_as_well_and_on_other_devices(planned) -> None:
    """The same trace is lowered for the devices of its mesh, and for others in their place."""
    programs = []
    end = observe_compilation(lambda program, options: programs.append(program))
    mesh, other = spmd.make_mesh(["cpu:0", "cpu:1"]), spmd.make_mesh(["cpu:2", "cpu:3"])
    weight = spmd.Variable(np.float32(1))
    constant = jax.device_put(jnp.arange(3.0), jax.devices()[0])

    def train(x):
        weight.value = weight.value + spmd.all_reduce((x * constant).sum())
        return x

    try:
        (batch,) = spmd.distribute(np.ones((4, 3), np.float32), mesh, batch_size=4)
        spmd.Step(train, mesh)(batch)
    finally:
        end()
    assert float(weight.value) == 1 + 4 * 3
    compiled = programs[0].lower(other).compile()
    assert compiled.input_shardings[0][0][0].mesh == other


def test_small_gradients_are_joined_on_a_processor_only(planned) -> None:
    """XLA joins them elsewhere."""
    mesh = spmd.make_mesh(["cpu:0", "cpu:1"])

    def step():
        tx = spmd.sum_over_replicas()
        ones = [jnp.ones(3), jnp.ones(5)]
        return tx.update(ones, tx.init(ones))[0]

    apart = spmd.Step(step, mesh).trace().collectives
    assert [one.operands for one in apart] == [("float32[3]",), ("float32[5]",)]
    trace_for(None)
    (joined,) = spmd.Step(step, mesh).trace().collectives
    assert joined.operands == ("float32[8]",)
