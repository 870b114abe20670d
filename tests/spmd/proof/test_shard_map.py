"""The proof on functions of one's own: which outputs differ, along which axes, and where that came from."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

import spmd
from spmd.proof import replicated_outputs, varying

X = jnp.arange(16.0).reshape(4, 4)


def mesh() -> Mesh:
    return Mesh(np.array(jax.devices()[:4]).reshape(2, 2), ("data", "model"))


def test_an_output_differs_along_the_axes_that_no_reduction_covers() -> None:
    def sums(x):
        total = x.sum()
        return {
            "none": total,
            "data": jax.lax.psum(total, "data"),
            "model": jax.lax.psum(total, "model"),
            "one after the other": jax.lax.psum(jax.lax.psum(total, "model"), "data"),
            "both": jax.lax.psum(total, ("data", "model")),
        }

    found = varying(sums, X, mesh=mesh(), in_specs=P("data", "model"))
    assert {name: one.axes for name, one in found.items()} == {
        "none": ("data", "model"),
        "data": ("model",),
        "model": ("data",),
        "one after the other": (),
        "both": (),
    }
    assert not found["both"]
    assert re.search(r"test_shard_map\.py:\d+ \(sums\)", found["none"].line)
    rows_only = varying(sums, X, mesh=mesh(), in_specs=P("data"))
    assert rows_only["none"].axes == ("data",)
    assert not rows_only["data"]


def test_an_exchange_along_one_axis_says_nothing_of_the_other() -> None:
    def moved(x):
        return jax.lax.ppermute(x.sum(), "model", [(0, 1), (1, 0)])

    assert varying(moved, X, mesh=mesh(), in_specs=P(None, "model")).axes == ("model",)
    assert varying(moved, X, mesh=mesh(), in_specs=P("data")).axes == ("data", "model")


def test_specs_may_stand_for_subtrees_and_functions_close_over_arrays() -> None:
    scale = jnp.full(4, 2.0)

    def step(state, batch):
        loss = ((batch["x"] @ state[0] + batch["y"][:, None]) * scale).sum()
        return state, (loss, jax.lax.pmax(loss, "data"))

    batch = {"x": X, "y": X[:, 0]}
    state, (loss, largest) = replicated_outputs(
        step, [X, X], batch, mesh=mesh(), in_specs=(P(), P("data"))
    )
    assert (state, loss, largest) == ([True, True], False, True)


def test_a_loop_whose_carry_starts_as_a_constant() -> None:
    def summed(x):
        total, _ = jax.lax.scan(lambda carry, row: (carry + row.sum(), None), 0.0, x)
        return jax.lax.psum(total, "data"), total

    specs = {"in_specs": P("data"), "out_specs": (P(), P())}
    checked = jax.shard_map(summed, mesh=mesh(), check_vma=True, **specs)
    with pytest.raises(TypeError, match="carry"):
        checked(X)
    assert replicated_outputs(summed, X, mesh=mesh(), in_specs=P("data")) == (True, False)


def test_a_collective_that_only_some_devices_reach() -> None:
    def step(axis, x):
        return jax.lax.cond(x.sum() > 1, lambda: jax.lax.psum(x.sum(), axis), lambda: 0.0)

    with pytest.raises(spmd.errors.ReplicaDivergenceError, match=r"branch at .*test_shard_map\.py"):
        varying(lambda x: step("data", x), X, mesh=mesh(), in_specs=P("data"))
    # Along the model axis all devices agree on the branch.
    found = varying(lambda x: step("model", x), X, mesh=mesh(), in_specs=P("data"))
    assert found.axes == ("data",)


def test_a_described_argument_and_some_axes() -> None:
    described = jax.ShapeDtypeStruct((4, 4), jnp.float32)
    found = varying(
        lambda x: x.sum(), described, mesh=mesh(), in_specs=P("data"), axis_names={"data"}
    )
    assert found.axes == ("data",)
