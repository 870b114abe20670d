"""What the checks of a traced step say; that they find what is wrong is tested beside what they prove."""

import functools
import gc
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import nnx
from jax.sharding import Mesh

import spmd
from spmd.proof import checks

MeshOf = Callable[[int], Mesh]


def test_a_divergence_names_parameters_before_the_state_of_their_optimizer(mesh_of: MeshOf) -> None:
    model = nnx.Linear(2, 1, rngs=nnx.Rngs(0))
    # Reached first, and more than the message has room for.
    slots = [nnx.Variable(jnp.zeros((2, 1))) for _ in range(6)]

    def train(slots: Any, model: Any, x: Any) -> None:
        gradient = jax.grad(lambda kernel: (x @ kernel).sum())(model.kernel[...])
        for slot in slots:
            slot[...] += gradient
        model.kernel[...] -= 0.1 * slots[0][...]

    mesh = mesh_of(2)
    (batch,) = spmd.distribute(np.ones((4, 2), np.float32), mesh, batch_size=4)
    with pytest.raises(spmd.errors.ReplicaDivergenceError) as error:
        spmd.Step(train, mesh)(slots, model, batch)
    first, rest = str(error.value).split(" would leave ")[1].split(", ", maxsplit=1)
    assert first.endswith("kernel")
    assert "and 2 more with a different value" in rest
    line = train.__code__.co_firstlineno + 4
    assert f"{__file__}:{line} (train)" in rest


@pytest.mark.parametrize(
    ("variable", "parameter"),
    [
        (nnx.Param(jnp.ones(1)), True),
        (nnx.LoRAParam(jnp.ones(1)), True),
        (nnx.BatchStat(jnp.ones(1)), False),
        (
            jax.tree.leaves(
                nnx.Optimizer(
                    nnx.Linear(1, 1, rngs=nnx.Rngs(0)), optax.adam(0.1), wrt=nnx.Param
                ).opt_state,
                is_leaf=lambda leaf: isinstance(leaf, nnx.Variable),
            )[0],
            False,
        ),
        (spmd.Variable(jnp.ones(1)), False),
    ],
)
def test_what_is_trained(variable: Any, parameter: bool) -> None:
    assert checks._is_parameter(variable) is parameter


def test_the_garbage_collector_is_asked_once(
    mesh_of: MeshOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    ask = gc.get_referrers

    def counting(*objects: Any) -> Any:
        asked.append(len(objects))
        return ask(*objects)

    monkeypatch.setattr(checks.gc, "get_referrers", counting)
    tables = [jnp.arange(3.0) + index for index in range(5)]
    step = spmd.Step(lambda x: x + sum(tables), mesh_of(1))
    step(jnp.ones(3))
    assert asked == [5]
    spmd.Step(lambda x: x + 1, mesh_of(1))(jnp.ones(3))
    assert asked == [5]


def test_of_several_captured_variables_the_first_that_is_read_is_named(mesh_of: MeshOf) -> None:
    # A method of a list is C code, which cannot be searched.
    get = functools.partial([nnx.Param(jnp.ones(size)) for size in (3, 2)].__getitem__)
    for order, shape in (((0, 1), (3,)), ((1, 0), (2,))):
        with pytest.raises(spmd.errors.StateError) as error:
            spmd.Step(lambda order=order: [get(i)[...].sum() for i in order], mesh_of(1))()
        assert f"reads a Param of shape {shape} at {__file__}" in str(error.value)
