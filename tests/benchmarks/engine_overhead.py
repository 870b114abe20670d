"""What the engine costs someone who writes JAX: the step of examples/jax_on_spmd.py and of examples/jax_by_hand.py.

The network is smaller than in the examples, so that dispatch counts and not arithmetic.
"""

import json
import sys
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import AxisType, NamedSharding, PartitionSpec

import spmd
from tests.benchmarks.timing import compare

ROWS, WIDTH = 8, 16


def init_params() -> dict[str, jax.Array]:
    """Makes the parameters of two layers."""
    keys = jax.random.split(jax.random.key(0))
    return {
        "hidden": jax.random.normal(keys[0], (WIDTH, WIDTH)),
        "out": jax.random.normal(keys[1], (WIDTH, 1)),
    }


def row_losses(params: dict[str, jax.Array], batch: dict[str, jax.Array]) -> jax.Array:
    """Computes the loss of each row."""
    out = jnp.tanh(batch["x"] @ params["hidden"]) @ params["out"]
    return (out[:, 0] - batch["y"]) ** 2


def by_hand(data: dict[str, np.ndarray]) -> Callable[[], Any]:
    """The step of examples/jax_by_hand.py."""
    mesh = jax.make_mesh((jax.device_count(),), ("replica",), axis_types=(AxisType.Auto,))
    whole, rows = PartitionSpec(), PartitionSpec("replica")
    tx = optax.adam(1e-3)

    def train_step(params: Any, opt_state: Any, batch: Any) -> Any:
        def loss_fn(params: Any) -> jax.Array:
            return row_losses(params, batch).sum() / len(data["y"])

        loss, gradients = jax.value_and_grad(loss_fn)(params)
        loss, gradients = jax.lax.psum((loss, gradients), "replica")
        updates, opt_state = tx.update(gradients, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss

    step = jax.jit(
        jax.shard_map(
            train_step,
            mesh=mesh,
            in_specs=(whole, whole, rows),
            out_specs=(whole, whole, whole),
            check_vma=False,
        ),
        donate_argnums=(0, 1),
    )
    params = init_params()
    state = list(jax.device_put((params, tx.init(params)), NamedSharding(mesh, whole)))
    batch = jax.device_put(data, NamedSharding(mesh, rows))

    def call() -> Any:
        *state[:], loss = step(*state, batch)
        return loss

    return call


def on_spmd(data: dict[str, np.ndarray]) -> Callable[[], Any]:
    """The step of examples/jax_on_spmd.py."""
    mesh = spmd.make_mesh()
    tx = optax.chain(spmd.sum_over_replicas(), optax.adam(1e-3))
    params = spmd.Variable(init_params(), name="params")
    opt_state = spmd.Variable(tx.init(params.value), name="opt_state")

    @spmd.Step
    def step(batch: Any) -> Any:
        def loss_fn(params: Any) -> jax.Array:
            return spmd.average_loss(row_losses(params, batch))

        loss, gradients = jax.value_and_grad(loss_fn)(params.value)
        updates, opt_state.value = tx.update(gradients, opt_state.value, params.value)
        params.value = optax.apply_updates(params.value, updates)
        return spmd.all_reduce(loss)

    (batch,) = spmd.distribute(data, mesh, batch_size=len(data["y"]))
    return lambda: step(batch)


def main(devices: int) -> None:
    """Measures on some devices, and prints rows of the table as JSON."""
    spmd.simulate_devices(devices)
    random = np.random.default_rng(0)
    rows = ROWS * devices
    data = {
        "x": random.normal(size=(rows, WIDTH)).astype(np.float32),
        "y": random.normal(size=rows).astype(np.float32),
    }
    programs = {"spmd.Step": on_spmd(data), "jax.jit(jax.shard_map(...))": by_hand(data)}
    print(json.dumps(compare(programs, devices, rounds=40, steps=100)))


if __name__ == "__main__":
    main(int(sys.argv[1]))
