"""Where arrays lie on a mesh, and steps on a mesh with a model axis besides the replicas."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import spmd
from spmd.errors import MeshError
from spmd.topology.layout import Layout, layout_of

MeshOf = Callable[[int], Mesh]


def mesh_with_model_axis() -> Mesh:
    devices = np.array(jax.devices()[:4]).reshape(2, 2)
    return Mesh(devices, ("replica", "model"), axis_types=(AxisType.Auto,) * 2)


def test_the_replicas_of_this_process(mesh_of: MeshOf) -> None:
    assert layout_of(mesh_of(3)).own_replicas == [0, 1, 2]
    assert layout_of(mesh_with_model_axis()).own_replicas == [0, 1]


def test_shardings(mesh_of: MeshOf) -> None:
    mesh = mesh_of(4)
    array = jax.device_put(np.arange(8), layout_of(mesh).rows)
    assert [shard.data.tolist() for shard in array.addressable_shards] == [
        [0, 1],
        [2, 3],
        [4, 5],
        [6, 7],
    ]
    array = jax.device_put(np.arange(2), layout_of(mesh).whole)
    assert [shard.data.tolist() for shard in array.addressable_shards] == [[0, 1]] * 4
    model = jax.sharding.Mesh(np.array(jax.devices()[:4]).reshape(2, 2), ("replica", "model"))
    array = jax.device_put(np.arange(4), layout_of(model).rows)
    assert [shard.data.tolist() for shard in array.addressable_shards] == [[0, 1]] * 2 + [
        [2, 3]
    ] * 2


def test_axes_that_are_not_data_axes_are_model_axes():
    layout = layout_of(mesh_with_model_axis())
    assert (layout.data_axes, layout.model_axes) == (("replica",), ("model",))
    assert (layout.replicas, layout.local_replicas, layout.axis) == (2, 2, "replica")


def test_a_variable_divided_along_model_axes_stays_so():
    layout = layout_of(mesh_with_model_axis())
    value = jnp.arange(4.0)
    for spec, kept in ((P("model"), True), (P("replica"), False), (P(("replica", "model")), False)):
        sharding = NamedSharding(layout.mesh, spec)
        placed = layout.of_state(jax.device_put(value, sharding), local=False)
        assert placed == (sharding if kept else layout.whole)
    assert layout.of_state(value, local=True) == layout.local


def test_a_mesh_without_replicas_is_refused():
    with pytest.raises(
        spmd.errors.MeshError, match=r"axis 'replica'.*\('model',\).*spmd.make_mesh"
    ):
        layout_of(Mesh(np.array(jax.devices()[:2]), ("model",)))


def train(mesh: Mesh, spec: P) -> tuple[list[float], spmd.Variable]:
    """Trains a linear model; its last batch is padded."""
    rows = np.random.default_rng(0).normal(size=(20, 6)).astype(np.float32)
    weight = spmd.Variable(
        jax.device_put(jnp.linspace(0, 1, 24).reshape(6, 4), NamedSharding(mesh, spec)),
        name="weight",
    )

    def step(x: jax.Array) -> jax.Array:
        def loss(w: jax.Array) -> jax.Array:
            return spmd.average_loss(((x @ w - 1) ** 2).mean(axis=1))

        share, gradient = jax.value_and_grad(loss)(weight.value)
        weight.value -= 0.1 * spmd.all_reduce(gradient)
        return spmd.all_reduce(share)

    run = spmd.Step(step, mesh)
    return [float(run(batch)) for batch in spmd.distribute(rows, mesh, batch_size=8)], weight


@pytest.mark.parametrize("spec", [P(), P(None, "model"), P("model")], ids=str)
def test_a_step_computes_the_same_with_a_model_axis(mesh_of: MeshOf, spec: P) -> None:
    losses, weight = train(mesh_of(2), P())
    found, other = train(mesh_with_model_axis(), spec)
    np.testing.assert_allclose(found, losses, rtol=1e-5)
    np.testing.assert_allclose(other.value, weight.value, rtol=1e-5)
    assert other.value.sharding.spec == spec


def test_the_first_replica_of_each_process() -> None:
    def device(process: int) -> Any:
        return SimpleNamespace(process_index=process)

    rows = [[device(1), device(1)], [device(0), device(0)], [device(0), device(0)]]
    mesh: Any = SimpleNamespace(
        axis_names=("model", "replica"),
        devices=np.array(rows).T,
        shape={"model": 2, "replica": 3},
    )
    assert Layout(mesh, ("replica",), ("model",)).first_replicas == [0, 1]


def test_the_devices_of_replicas() -> None:
    layout = layout_of(spmd.make_mesh(model=(2, 2)))
    assert (layout.replicas, layout.devices_per_replica) == (2, 4)
    assert layout.replica_devices.tolist() == [jax.devices()[:4], jax.devices()[4:]]
    assert layout_of(spmd.make_mesh()).devices_per_replica == 1


@pytest.mark.parametrize(
    ("model", "parts", "spec"),
    [
        ((2,), (1, 2), P(None, "model")),
        ((2,), (1,), P()),
        ((2, 4), (4, 2), P("model_1", "model_0")),
        ((2, 4), (1, 8, 1), P(None, ("model_0", "model_1"))),
        ((2, 2, 2), (4, 2), P(("model_0", "model_1"), "model_2")),
    ],
)
def test_model_axes_are_dealt_out(model: tuple[int, ...], parts: tuple[int, ...], spec: P) -> None:
    layout = layout_of(spmd.make_mesh(model=model))
    assert layout.split(parts).spec == spec


@pytest.mark.parametrize("parts", [(3,), (2, 2), (4, 0), (8,)])
def test_model_axes_that_do_not_suffice(parts: tuple[int, ...]) -> None:
    layout = layout_of(spmd.make_mesh(model=4))
    with pytest.raises(MeshError, match="divided into"):
        layout.split(parts)
