"""Replicas of several simulated devices: the same numbers as with one each, and work that is divided."""

import re
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

import spmd
from spmd.checkpoint import Checkpoint
from spmd.errors import MeshError
from spmd.replica import on_first_device, split_over_devices, whole_on_devices
from spmd.topology import layout_of

MeshOf = Callable[[int], Mesh]
DATA = np.random.RandomState(1).randn(23, 16).astype(np.float32)
WEIGHT = np.random.RandomState(0).randn(16, 32).astype(np.float32)


@pytest.fixture(scope="module")
def grouped() -> Mesh:
    assert len(jax.devices()) == 8
    return spmd.make_mesh(model=2)


def make_function(
    mesh: Mesh, *, counts_rows: bool = False
) -> tuple[Callable[[jax.Array], jax.Array], spmd.Variable]:
    """A function that divides a layer among the devices of a replica, and its variable, which is divided."""
    weight = spmd.Variable(jax.device_put(WEIGHT, layout_of(mesh).split((1, len_of(mesh)))))

    def train(x: jax.Array) -> jax.Array:
        def loss_of(weight: jax.Array) -> jax.Array:
            hidden = split_over_devices(jnp.tanh(x @ weight), (1, len_of(mesh)))
            return spmd.average_loss(jnp.sum(whole_on_devices(hidden) ** 2, axis=1))

        loss, gradient = jax.value_and_grad(loss_of)(weight.value)
        weight.value = weight.value - 0.1 * spmd.all_reduce(gradient)
        if counts_rows:
            weight.value = weight.value + 0.01 * spmd.all_reduce(jnp.float32(x.shape[0]))
        return spmd.all_reduce(loss)

    return train, weight


def make_step(mesh: Mesh, **kind: bool) -> tuple[spmd.Step, spmd.Variable]:
    function, weight = make_function(mesh, **kind)
    return spmd.Step(function, mesh), weight


def len_of(mesh: Mesh) -> int:
    return layout_of(mesh).devices_per_replica


def trained(mesh: Mesh, **kind: bool) -> tuple[list[float], np.ndarray, spmd.Step]:
    step, weight = make_step(mesh, **kind)
    losses = [float(step(batch)) for batch in spmd.distribute(DATA, mesh, batch_size=8)]
    assert weight.value.sharding == layout_of(mesh).split((1, len_of(mesh)))
    return losses, np.asarray(weight.value), step


@pytest.mark.parametrize("counts_rows", [False, True])
def test_the_numbers_of_as_many_replicas_of_one_device(
    grouped: Mesh, mesh_of: MeshOf, counts_rows: bool
) -> None:
    losses, weight, step = trained(grouped, counts_rows=counts_rows)
    expected, expected_weight, _ = trained(mesh_of(4), counts_rows=counts_rows)
    assert len(losses) == 3
    np.testing.assert_allclose(losses, expected, rtol=1e-5)
    np.testing.assert_allclose(weight, expected_weight, rtol=1e-4, atol=1e-5)
    # The last batch has rows for some replicas only.
    explained = step.explain()
    assert explained is not None
    assert explained.path == ("unequal" if counts_rows else "masked")
    assert explained.rows == ((2, 2, 2, 1),)


def shapes_of_products(mesh: Mesh, function: Callable[..., Any], *arrays: Any) -> set[str]:
    """The shapes that matrix products have on one device, in the program that XLA made."""
    text = spmd.Step(function, mesh).trace(*arrays).lower().compile().as_text()
    return set(re.findall(r"= (\w+\[[\d,]*\])\S* dot\(", text))


def test_a_product_is_divided(grouped: Mesh) -> None:
    x, weight = jnp.ones((24, 16)), jnp.ones((16, 32))

    def split(x: jax.Array, weight: jax.Array) -> jax.Array:
        return spmd.all_reduce(split_over_devices(x @ weight, (1, 2)))

    def whole(x: jax.Array, weight: jax.Array) -> jax.Array:
        return spmd.all_reduce(whole_on_devices(x @ weight))

    assert shapes_of_products(grouped, split, x, weight) == {"f32[24,16]"}
    assert shapes_of_products(grouped, whole, x, weight) == {"f32[24,32]"}


def test_a_divided_variable_divides_what_is_done_with_it(grouped: Mesh) -> None:
    weight = spmd.Variable(jax.device_put(WEIGHT, layout_of(grouped).split((1, 2))))
    x = jnp.ones((24, 16))
    shapes = shapes_of_products(grouped, lambda x: spmd.all_reduce(jnp.sum(x @ weight.value)), x)
    assert shapes == {"f32[24,16]"}


@pytest.mark.parametrize("parts", [(4, 1), (2, 2), (1, 4), (2, 1)])
def test_several_model_axes(parts: tuple[int, int]) -> None:
    mesh = spmd.make_mesh(model=(2, 2))
    x = np.arange(32.0, dtype=np.float32).reshape(4, 8)
    step = spmd.Step(lambda x: spmd.all_reduce(split_over_devices(x * 2, parts) @ x.T), mesh)
    np.testing.assert_allclose(step(x), 2 * 2 * x @ x.T)


def test_parts_that_do_not_divide_are_padded(grouped: Mesh) -> None:
    step = spmd.Step(lambda x: spmd.all_reduce(split_over_devices(x, (2,)) ** 2), grouped)
    np.testing.assert_array_equal(step(jnp.arange(5.0)), 4 * np.arange(5.0) ** 2)


@pytest.mark.parametrize(
    ("parts", "error", "match"),
    [
        ((2,), ValueError, r"shape \[4, 6\]"),
        ((3, 1), MeshError, "2 device"),
        ((2, 2), MeshError, "model="),
        ((0, 1), MeshError, "one part or more"),
    ],
)
def test_parts_that_there_are_no_devices_for(
    grouped: Mesh, parts: tuple[int, ...], error: type[Exception], match: str
) -> None:
    step = spmd.Step(lambda x: spmd.all_reduce(split_over_devices(x, parts)), grouped)
    with pytest.raises(error, match=match):
        step(jnp.ones((4, 6)))


def test_outside_of_a_step_nothing_is_done() -> None:
    value = jnp.ones((4, 6))
    assert split_over_devices(value, (1, 3)) is value
    assert whole_on_devices({"a": value})["a"] is value


def test_op_by_op(grouped: Mesh) -> None:
    def function(x: jax.Array) -> jax.Array:
        return spmd.all_reduce(whole_on_devices(split_over_devices(x, (2,))).sum())

    (batch,) = spmd.distribute(np.arange(16.0), grouped, batch_size=16)
    step = spmd.Step(function, grouped)
    assert float(step(batch)) == 120
    spmd.step.run_op_by_op(True)
    try:
        assert float(step(batch)) == 120
    finally:
        spmd.step.run_op_by_op(False)


def test_verify(grouped: Mesh) -> None:
    function, _ = make_function(grouped)
    found = spmd.verify(function, DATA[:5], grouped)
    assert found.ok
    assert found.rows == (5, 4, 3, 2, 1)


def test_a_checkpoint_of_divided_variables(grouped: Mesh, mesh_of: MeshOf, tmp_path: Any) -> None:
    step, weight = make_step(grouped)
    (batch,) = spmd.distribute(DATA[:8], grouped, batch_size=8)
    step(batch)
    saved = np.asarray(weight.value)
    checkpoint = Checkpoint(weight=weight)
    path = checkpoint.save(str(tmp_path / "divided"))
    checkpoint.wait()
    step(batch)
    checkpoint.restore(path)
    np.testing.assert_array_equal(weight.value, saved)
    assert weight.value.sharding.spec == P(None, "model")
    # It is no part of what is saved, how a value lay on the devices.
    _, other = make_step(mesh_of(4))
    Checkpoint(weight=other).restore(path)
    np.testing.assert_array_equal(other.value, saved)


@pytest.mark.parametrize("model", [2, (2, 2)])
def test_the_host_is_called_once_for_each_replica(model: int | tuple[int, ...]) -> None:
    mesh = spmd.make_mesh(model=model)
    calls: list[float] = []

    def ask(x: jax.Array, flag: jax.Array) -> list[jax.Array]:
        def call(x: np.ndarray, flag: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            calls.append(float(x))
            return x + 1, ~flag

        shapes = jax.ShapeDtypeStruct((), "float32"), jax.ShapeDtypeStruct((), "bool")
        return list(jax.pure_callback(call, shapes, x, flag))

    def function() -> tuple[jax.Array, jax.Array]:
        x = spmd.replica_id().astype(jnp.float32)
        number, flag = on_first_device(ask, x, jnp.array(False))
        return spmd.all_reduce(number), spmd.all_reduce(flag.astype(jnp.int32))

    replicas = layout_of(mesh).replicas
    number, flags = spmd.Step(function, mesh)()
    assert float(number) == replicas * (replicas + 1) / 2
    assert int(flags) == replicas
    assert sorted(calls) == list(range(replicas))
