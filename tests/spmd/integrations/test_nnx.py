"""Flax NNX state on several replicas: random streams, batch statistics, optimizers, intermediates."""

import warnings
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

MeshOf = Callable[[int], Mesh]


def batches_of(data: Any, mesh: Mesh, batch_size: int = 8) -> list[Any]:
    return list(spmd.distribute(data, mesh, batch_size=batch_size, prefetch=0))


def key_data(stream: Any) -> list[int]:
    return np.asarray(jax.random.key_data(stream.key[...])).tolist()


# Random streams.


def dropped(mesh: Mesh, seed: int, steps: int = 3) -> np.ndarray[Any, Any]:
    """What dropout leaves of ones: shape (steps, replicas, 64)."""
    dropout = nnx.Dropout(0.5, rngs=nnx.Rngs(seed))
    step = spmd.Step(lambda: dropout(jnp.ones(64)), mesh)
    return np.stack([np.stack(step().values) for _ in range(steps)])


def test_dropout_differs_between_replicas_and_between_steps(mesh_of: MeshOf) -> None:
    masks = dropped(mesh_of(8), seed=0).reshape(-1, 64)
    assert set(masks.reshape(-1).tolist()) == {0.0, 2.0}
    assert len({mask.tobytes() for mask in masks}) == 3 * 8
    # Independent masks agree in half of the places: 32 of 64, give or take five deviations.
    agreement = (masks[:, None] == masks[None]).sum(-1)[~np.eye(len(masks), dtype=bool)]
    assert agreement.min() >= 12
    assert agreement.max() <= 52


def test_one_seed_gives_one_run_bit_by_bit(mesh_of: MeshOf) -> None:
    first, again, other = (dropped(mesh_of(4), seed) for seed in (3, 3, 4))
    assert first.tobytes() == again.tobytes()
    assert first.tobytes() != other.tobytes()


def test_training_with_one_seed_gives_the_same_weights_bit_by_bit(mesh_of: MeshOf) -> None:
    data = np.random.default_rng(0).normal(size=(29, 3)).astype(np.float32)
    mesh = mesh_of(4)

    def weights() -> bytes:
        model = Network(nnx.Rngs(5))
        optimizer = nnx.Optimizer(model, optax.adam(0.1), wrt=nnx.Param)
        step = spmd.Step(lambda x: train(model, optimizer, x), mesh)
        for batch in batches_of(data, mesh):
            step(batch)
        return b"".join(np.asarray(leaf).tobytes() for leaf in leaves_of(model, optimizer))

    assert weights() == weights()


def test_counts_advance_and_keys_stay(mesh_of: MeshOf) -> None:
    rngs = nnx.Rngs(params=1, noise=2)
    keys = {name: key_data(rngs[name]) for name in ("params", "noise")}

    def step() -> Any:
        rngs.noise()
        return jax.random.normal(rngs.noise(), (4,))

    run = spmd.Step(step, mesh_of(4))
    seen = [np.stack(run().values) for _ in range(3)]
    assert (int(rngs.noise.count[...]), int(rngs.params.count[...])) == (6, 0)
    assert {name: key_data(rngs[name]) for name in keys} == keys
    assert len({row.tobytes() for table in seen for row in table}) == 12
    for shard in rngs.noise.count[...].addressable_shards:
        assert int(shard.data) == 6


def test_a_stream_goes_on_outside_where_the_step_left_it(mesh_of: MeshOf) -> None:
    rngs, alone = nnx.Rngs(noise=2), nnx.Rngs(noise=2)
    step = spmd.Step(lambda: jax.random.normal(rngs.noise(), (2,)), mesh_of(2))
    for _ in range(2):
        step()
        alone.noise()
    here, there = (jax.random.key_data(stream.noise()) for stream in (rngs, alone))
    np.testing.assert_array_equal(here, there)


# Batch statistics.


@pytest.mark.parametrize("replicas", [1, 2, 4])
def test_statistics_are_the_mean_of_what_the_replicas_saw(mesh_of: MeshOf, replicas: int) -> None:
    mesh = mesh_of(replicas)
    norm = nnx.BatchNorm(3, momentum=0.9, rngs=nnx.Rngs(0))
    data = np.random.default_rng(0).normal(2.0, 3.0, (24, 3)).astype(np.float32)
    step = spmd.Step(lambda x: norm(x), mesh)
    mean, var = np.zeros(3), np.ones(3)
    for rows, batch in zip(np.split(data, 3), batches_of(data, mesh), strict=True):
        blocks = np.split(rows.astype(np.float64), replicas)
        normed = spmd.gather(step(batch))
        mean = np.mean([0.9 * mean + 0.1 * block.mean(0) for block in blocks], axis=0)
        var = np.mean([0.9 * var + 0.1 * block.var(0) for block in blocks], axis=0)
        np.testing.assert_allclose(norm.mean[...], mean, rtol=1e-4)
        np.testing.assert_allclose(norm.var[...], var, rtol=1e-4)
        # A replica normalises its rows by its own statistics.
        by_hand = [(b - b.mean(0)) / np.sqrt(b.var(0) + norm.epsilon) for b in blocks]
        np.testing.assert_allclose(normed, np.concatenate(by_hand), rtol=1e-3, atol=1e-3)
    for shard in norm.mean[...].addressable_shards:
        np.testing.assert_array_equal(shard.data, norm.mean[...])


def test_statistics_that_a_step_only_uses_stay(mesh_of: MeshOf) -> None:
    norm = nnx.BatchNorm(2, use_running_average=True, rngs=nnx.Rngs(0))
    norm.mean[...] = jnp.array([1.0, 2.0])
    step = spmd.Step(lambda x: norm(x), mesh_of(2))
    (batch,) = batches_of(np.ones((8, 2), np.float32), step.mesh)
    normed = spmd.gather(step(batch))
    np.testing.assert_allclose(normed, np.tile([0.0, -1.0], (8, 1)), atol=1e-4)
    np.testing.assert_array_equal(norm.mean[...], [1.0, 2.0])


class Network(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.first = nnx.Linear(3, 4, rngs=rngs)
        self.norm = nnx.BatchNorm(4, rngs=rngs)
        self.dropout = nnx.Dropout(0.2, rngs=rngs)
        self.last = nnx.Linear(4, 1, rngs=rngs)

    def __call__(self, x: Any) -> Any:
        x = self.norm(self.first(x), mask=spmd.valid_rows()[:, None])
        return self.last(self.dropout(nnx.relu(x)))[:, 0]


def train(model: Network, optimizer: nnx.Optimizer[Any], x: Any) -> Any:
    def loss(model: Any) -> Any:
        return spmd.average_loss((model(x) - x.sum(1)) ** 2)

    value, gradients = nnx.value_and_grad(loss)(model)
    optimizer.update(model, gradients)
    return spmd.all_reduce(value)


def leaves_of(*things: Any) -> list[Any]:
    leaves = jax.tree.leaves(nnx.to_pure_dict(nnx.state(nnx.List(list(things)))))
    return [x for x in leaves if not jnp.issubdtype(x.dtype, jax.dtypes.prng_key)]


@pytest.mark.parametrize("rows", [1, 3, 5])
def test_a_replica_without_rows_leaves_everything_finite(mesh_of: MeshOf, rows: int) -> None:
    mesh = mesh_of(4)
    model = Network(nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(0.1), wrt=nnx.Param)
    data = np.random.default_rng(1).normal(size=(8 + rows, 3)).astype(np.float32)
    full, partial = batches_of(data, mesh)
    assert 0 in [len(block) for block in partial]
    step = spmd.Step(lambda x: train(model, optimizer, x), mesh)
    bias: Any = model.last.bias
    for batch in (full, partial, partial, full):
        bias_before = np.asarray(bias[...])
        assert np.isfinite(float(step(batch)))
        for leaf in leaves_of(model, optimizer):
            assert np.isfinite(leaf).all()
        assert np.abs(np.asarray(bias[...]) - bias_before).max() > 0
    assert step.trace_count == 1


# Metrics.


def test_welford_is_refused(mesh_of: MeshOf) -> None:
    metric = nnx.metrics.Welford()
    step = spmd.Step(lambda: metric.update(values=jnp.ones(3)), mesh_of(2))
    with pytest.raises(
        spmd.errors.StateError, match=r"Welford cannot be summed.*nnx\.metrics\.Average"
    ):
        step()
    metric.update(values=jnp.ones(3))  # outside of a step it works
    assert float(metric.compute().mean) == 1.0


def test_welford_inside_of_several_metrics_is_refused(mesh_of: MeshOf) -> None:
    metrics = nnx.MultiMetric(loss=nnx.metrics.Average("loss"), spread=nnx.metrics.Welford("loss"))
    with pytest.raises(spmd.errors.StateError, match="Welford"):
        spmd.Step(lambda: metrics.update(loss=jnp.ones(3)), mesh_of(2))()


# Optimizers.


@pytest.mark.parametrize("replicas", [1, 4])
@pytest.mark.parametrize("chained", [False, True])
def test_optimizer_state_is_that_of_the_global_batch(
    mesh_of: MeshOf, replicas: int, chained: bool
) -> None:
    mesh = mesh_of(replicas)
    data = np.random.default_rng(2).normal(size=(21, 3)).astype(np.float32)

    def made(link: bool) -> tuple[Any, Any]:
        model = nnx.Linear(3, 1, rngs=nnx.Rngs(0))
        tx = optax.adam(optax.linear_schedule(0.1, 0.01, 5))
        tx = optax.chain(spmd.sum_over_replicas(), tx) if link else tx
        return model, nnx.Optimizer(model, tx, wrt=nnx.Param)

    def update(model: Any, optimizer: Any, x: Any) -> None:
        gradients = nnx.grad(lambda m: spmd.average_loss((m(x)[:, 0] - x[:, 1]) ** 2))(model)
        optimizer.update(model, gradients)

    model, optimizer = made(chained)
    alone, its_optimizer = made(chained)
    step = spmd.Step(lambda x: update(model, optimizer, x), mesh)
    for rows, batch in zip((data[:8], data[8:16], data[16:]), batches_of(data, mesh), strict=True):
        step(batch)
        update(alone, its_optimizer, rows)
    assert int(optimizer.step[...]) == 3
    pairs = list(zip(leaves_of(model, optimizer), leaves_of(alone, its_optimizer), strict=True))
    assert len(pairs) == 2 + 1 + 2 + 2 * 2  # weights, step, two counts, two moments of each weight
    for mine, expected in pairs:
        np.testing.assert_allclose(mine, expected, rtol=1e-4, atol=1e-7)
        for shard in mine.addressable_shards:
            np.testing.assert_array_equal(shard.data, mine)


def test_tx_is_the_user_s_again_after_the_trace(mesh_of: MeshOf) -> None:
    model = nnx.Linear(2, 1, rngs=nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.sgd(0.5), wrt=nnx.Param)
    tx = optimizer.tx
    kernel = np.asarray(model.kernel[...])
    failing = True

    def step(x: Any) -> None:
        optimizer.update(model, nnx.grad(lambda m: spmd.average_loss(m(x)[:, 0]))(model))
        if failing:
            raise KeyError("on purpose")

    mesh = mesh_of(4)
    run = spmd.Step(step, mesh)
    (batch,) = batches_of(np.ones((8, 2), np.float32), mesh)
    with pytest.raises(KeyError, match="on purpose"):
        run(batch)
    assert optimizer.tx is tx
    failing = False
    run(batch)
    assert optimizer.tx is tx
    np.testing.assert_allclose(model.kernel[...], kernel - 0.5, rtol=1e-6)
    # Outside of a step it is an ordinary optimizer.
    optimizer.update(model, nnx.grad(lambda m: m(jnp.ones((8, 2)))[:, 0].mean())(model))
    np.testing.assert_allclose(model.kernel[...], kernel - 1.0, rtol=1e-6)


# Intermediates.


class Sowing(nnx.Module):
    def __init__(self) -> None:
        self.linear = nnx.Linear(2, 2, use_bias=False, rngs=nnx.Rngs(0))

    def __call__(self, x: Any) -> Any:
        x = self.linear(x)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # newer versions deprecate it
            self.sow(nnx.Intermediate, "activation", x)
        return x.sum()


def test_what_a_module_sows_can_be_popped_in_the_step(mesh_of: MeshOf) -> None:
    model = Sowing()
    attributes = set(vars(model))

    def step(x: Any) -> Any:
        model(x)
        return nnx.to_pure_dict(nnx.pop(model, nnx.Intermediate))

    run = spmd.Step(step, mesh_of(2))
    data = np.arange(8, dtype=np.float32).reshape(4, 2)
    (batch,) = batches_of(data, run.mesh, 4)
    for _ in range(2):
        (activation,) = run(batch)["activation"]
        np.testing.assert_allclose(
            spmd.gather(activation), data @ np.asarray(model.linear.kernel[...]), rtol=1e-5
        )
        assert set(vars(model)) == attributes
    assert run.trace_count == 1


def test_what_a_module_sows_cannot_stay(mesh_of: MeshOf) -> None:
    model = Sowing()
    attributes = set(vars(model))
    step = spmd.Step(lambda: model(jnp.ones((1, 2))), mesh_of(2))
    with pytest.raises(spmd.errors.StateError, match=r"Sowing\.activation.*nnx\.pop"):
        step()
    assert set(vars(model)) == attributes


@pytest.mark.parametrize("transform", [nnx.jit, nnx.remat], ids=["jit", "remat"])
def test_dropout_under_a_transformation_of_nnx(mesh_of: MeshOf, transform: Any) -> None:
    # The transformation hands the random key back as a new value, though nobody changed it.
    model = nnx.Dropout(0.5, rngs=nnx.Rngs(0))
    key = jax.random.key_data(model.rngs.key[...])

    @transform
    def forward(model: Any, x: Any) -> Any:
        return model(x)

    step = spmd.Step(lambda: forward(model, jnp.ones(64)), mesh_of(2), keep_per_replica=True)
    first, second = step(), step()
    assert not np.array_equal(first[0], first[1])
    assert not np.array_equal(first[0], second[0])
    np.testing.assert_array_equal(jax.random.key_data(model.rngs.key[...]), key)
    assert int(model.rngs.count[...]) == 2


def test_a_key_that_a_step_replaces_is_refused(mesh_of: MeshOf) -> None:
    model = nnx.Dropout(0.5, rngs=nnx.Rngs(0))

    def reseed() -> None:
        model.rngs.key[...] = jax.random.fold_in(model.rngs.key[...], 1)

    with pytest.raises(spmd.errors.ReplicaDivergenceError, match="draw from it"):
        spmd.Step(reseed, mesh_of(2))()


# Activations that are computed again.


class Block(nnx.Module):
    """Writes running statistics, and draws."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(8, 8, rngs=rngs)
        self.normal = nnx.BatchNorm(8, rngs=rngs)
        self.dropout = nnx.Dropout(0.5, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.dropout(jax.nn.gelu(self.normal(self.linear(x))))


def test_remat_computes_the_same(mesh_of: MeshOf) -> None:
    mesh = mesh_of(2)
    data = np.random.default_rng(0).random((8, 8), np.float32)
    losses = []
    for call in (Block.__call__, nnx.remat(Block.__call__)):
        block = Block(nnx.Rngs(0))
        optimizer = nnx.Optimizer(block, optax.sgd(0.1), wrt=nnx.Param)

        def train(x: jax.Array, call: Any = call, block: Any = block, optimizer: Any = optimizer):
            loss, gradients = nnx.value_and_grad(
                lambda block: spmd.average_loss(call(block, x).sum(1) ** 2)
            )(block)
            optimizer.update(block, gradients)
            return spmd.all_reduce(loss)

        step = spmd.Step(train, mesh)
        (batch,) = batches_of(data, mesh)
        losses.append([float(step(batch)) for _ in range(3)])
    np.testing.assert_allclose(*losses, rtol=1e-5)
    assert losses[0][2] < losses[0][0]
