"""Functions with state as pure ones, in `jax.jit` and `jax.shard_map`."""

import jax
import jax.numpy as jnp
import keras
import numpy as np
import optax
import pytest
from flax import nnx
from jax.sharding import PartitionSpec

import spmd


def regression():
    model = nnx.Linear(2, 1, rngs=nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(0.1), wrt=nnx.Param)
    return model, optimizer


X = np.arange(8, dtype=np.float32).reshape(4, 2)


def test_a_lifted_step_under_jit_computes_what_a_step_computes(mesh_of):
    def losses(make):
        model, optimizer = regression()

        def train(x):
            loss, gradients = nnx.value_and_grad(lambda m: (m(x) ** 2).mean())(model)
            optimizer.update(model, gradients)
            return loss

        return make(train), model

    def by_hand(train):
        pure, state = spmd.lift(train)
        jitted, found = jax.jit(pure, donate_argnums=0), []
        for _ in range(3):
            loss, state = jitted(state, X)
            found.append(float(loss))
        pure.write(state)
        return found

    def by_step(train):
        step = spmd.Step(train, mesh_of(1))
        return [float(step(X)) for _ in range(3)]

    (ours, one), (theirs, other) = losses(by_hand), losses(by_step)
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)
    np.testing.assert_allclose(one.kernel[...], other.kernel[...], rtol=1e-6)


def test_a_lifted_function_in_the_user_s_shard_map(mesh_of):
    mesh = mesh_of(2)
    weight = spmd.Variable(jnp.ones(2), name="weight")

    def gradient(x):
        return jax.grad(lambda w: (x @ w).sum())(weight.value)

    pure, state = spmd.lift(gradient)

    def replica(state, x):
        result, state = pure(state, x)
        return jax.lax.psum(result, "replica"), state

    rows = PartitionSpec("replica")
    step = jax.shard_map(
        replica,
        mesh=mesh,
        in_specs=(PartitionSpec(), rows),
        out_specs=PartitionSpec(),
        check_vma=False,
    )
    total, state = jax.jit(step)(state, X)
    np.testing.assert_allclose(total, X.sum(0))
    np.testing.assert_allclose(state["weight"], [1, 1])


def test_the_variables_keep_their_values_when_the_function_fails():
    count = spmd.Variable(jnp.zeros(()), name="count")

    def fails():
        count.value = count.value + 1
        raise ZeroDivisionError

    pure, state = spmd.lift(fails)
    with pytest.raises(ZeroDivisionError):
        jax.jit(pure)(state)
    assert float(count.value) == 0


def test_variables_of_one_name_are_told_apart():
    pair = [spmd.Variable(jnp.float32(number), name="v") for number in (1, 2)]

    def swap():
        pair[0].value, pair[1].value = pair[1].value, pair[0].value

    pure, state = spmd.lift(swap, state=pair)
    assert {name: float(value) for name, value in state.items()} == {"v": 1, "v#2": 2}
    _, state = pure(state)
    assert {name: float(value) for name, value in state.items()} == {"v": 2, "v#2": 1}


def test_state_that_does_not_fit_is_refused():
    weight = spmd.Variable(jnp.ones(2), name="weight")
    pure, _ = spmd.lift(lambda: weight.value)
    with pytest.raises(spmd.errors.StateError, match=r"is weight, but .* in bias, weight\. Pass"):
        pure({"bias": jnp.ones(2)})


def test_variables_that_do_not_exist_yet_are_asked_for():
    model = keras.Sequential([keras.layers.Dense(1)])
    with pytest.raises(spmd.errors.StateError, match="Build them first"):
        spmd.lift(lambda x: model(x))
