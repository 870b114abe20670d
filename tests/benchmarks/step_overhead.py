"""What the engine costs per step: a 50-layer MLP, whose layers are so small that only dispatch counts.

`tf.function` + `run` + `reduce` against the hand-written `jit(shard_map)` over a flat list of leaves, and
on one device against `nnx.jit`.
"""

import json
import sys
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx
from jax.sharding import NamedSharding, PartitionSpec

import spmd
from frontends import tf
from tests.benchmarks.timing import compare

LAYERS, WIDTH, ROWS = 50, 8, 8


class Mlp(nnx.Module):
    """Many small layers."""

    def __init__(self) -> None:
        rngs = nnx.Rngs(0)
        self.layers = nnx.List([nnx.Linear(WIDTH, WIDTH, rngs=rngs) for _ in range(LAYERS)])

    def __call__(self, x: Any) -> Any:
        for layer in self.layers:
            x = nnx.tanh(layer(x))
        return x


def ours(strategy: tf.distribute.MirroredStrategy, x: np.ndarray) -> Callable[[], Any]:
    """The step as a user writes it."""
    with strategy.scope():
        model = Mlp()
        optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)

    def train_step(x: Any) -> Any:
        def loss_fn(model: Mlp) -> Any:
            losses = jnp.mean(model(x) ** 2, axis=-1)
            return tf.nn.compute_average_loss(losses, global_batch_size=len(batch_rows))

        loss, gradients = nnx.value_and_grad(loss_fn)(model)
        optimizer.update(model, gradients)
        return loss

    @tf.function
    def train(batch: Any) -> Any:
        return strategy.reduce("SUM", strategy.run(train_step, args=(batch,)), axis=None)

    batch_rows = x
    batch = next(iter(spmd.distribute(x, strategy.mesh, batch_size=len(x))))
    return lambda: train(batch)


def by_hand(mesh: jax.sharding.Mesh, x: np.ndarray) -> Callable[[], Any]:
    """The step as an expert writes it: no objects between steps, only leaves."""
    graph, state = nnx.split(Mlp())
    tx = optax.adam(1e-3)
    leaves, structure = jax.tree.flatten((state, tx.init(state)))
    leaves = jax.device_put([jnp.copy(v) for v in leaves], NamedSharding(mesh, PartitionSpec()))

    def step(leaves: Any, x: Any) -> Any:
        state, opt_state = jax.tree.unflatten(structure, leaves)

        def loss_fn(state: Any) -> Any:
            return jnp.mean(nnx.merge(graph, state)(x) ** 2, axis=-1).sum() / (
                ROWS * len(mesh.devices)
            )

        loss, gradients = jax.value_and_grad(loss_fn)(state)
        gradients = jax.lax.psum(gradients, "replica")
        updates, opt_state = tx.update(gradients, opt_state, state)
        state = optax.apply_updates(state, updates)
        return jax.tree.leaves((state, opt_state)), jax.lax.psum(loss, "replica")

    spec = PartitionSpec("replica")
    compiled = jax.jit(
        jax.shard_map(
            step,
            mesh=mesh,
            in_specs=(PartitionSpec(), spec),
            out_specs=PartitionSpec(),
            check_vma=False,
        ),
        donate_argnums=0,
    )
    placed = jax.device_put(x, NamedSharding(mesh, spec))
    held = [leaves]

    def call() -> Any:
        held[0], loss = compiled(held[0], placed)
        return loss

    return call


def by_nnx_jit(x: np.ndarray) -> Callable[[], Any]:
    """The step as Flax's own documentation writes it."""
    model = Mlp()
    optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)

    @nnx.jit
    def step(model: Mlp, optimizer: Any, x: Any) -> Any:
        loss, gradients = nnx.value_and_grad(lambda model: jnp.mean(model(x) ** 2))(model)
        optimizer.update(model, gradients)
        return loss

    placed = jnp.asarray(x)
    return lambda: step(model, optimizer, placed)


def main(devices: int) -> None:
    """Measures on some devices, and prints rows of the table as JSON."""
    spmd.simulate_devices(devices)
    strategy = tf.distribute.MirroredStrategy()
    x = np.random.default_rng(0).normal(size=(ROWS * devices, WIDTH)).astype(np.float32)
    programs = {
        "tf.function + run + reduce": ours(strategy, x),
        "hand-written jit(shard_map)": by_hand(strategy.mesh, x),
    }
    if devices == 1:
        programs["nnx.jit"] = by_nnx_jit(x)
    print(json.dumps(compare(programs, devices, rounds=40, steps=40)))


if __name__ == "__main__":
    main(int(sys.argv[1]))
