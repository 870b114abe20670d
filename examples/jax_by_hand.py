"""Data-parallel training by hand: `jax.jit(jax.shard_map(...))`. examples/jax_on_spmd.py is the same on the engine.

python examples/jax_by_hand.py --devices 2
"""

import argparse
import os

import jax
import optax
from _mlp import GLOBAL_BATCH_SIZE, init_params, read_digits, row_losses
from jax.sharding import AxisType, NamedSharding, PartitionSpec

parser = argparse.ArgumentParser(description="Train a small network on MNIST.")
parser.add_argument("--devices", type=int, default=2, help="how many CPU devices (default: 2)")
parser.add_argument("--epochs", type=int, default=3, help="passes over the digits (default: 3)")
arguments = parser.parse_args()
jax.config.update("jax_num_cpu_devices", arguments.devices)
# XLA sizes its thread pool by NPROC. With too few threads for its devices an all-reduce waits for ever.
os.environ.setdefault("NPROC", str(2 * arguments.devices + 4))

# --8<-- [start:script]
mesh = jax.make_mesh((jax.device_count(),), ("replica",), axis_types=(AxisType.Auto,))
whole, rows = PartitionSpec(), PartitionSpec("replica")
tx = optax.adam(1e-3)


def train_step(params, opt_state, batch):
    def loss_fn(params):
        return row_losses(params, batch).sum() / GLOBAL_BATCH_SIZE

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
digits = read_digits("train")
params = jax.device_put(init_params(), NamedSharding(mesh, whole))
opt_state = jax.device_put(tx.init(params), NamedSharding(mesh, whole))
for epoch in range(arguments.epochs):
    for first in range(0, len(digits["y"]), GLOBAL_BATCH_SIZE):
        batch = {name: part[first : first + GLOBAL_BATCH_SIZE] for name, part in digits.items()}
        batch = jax.device_put(batch, NamedSharding(mesh, rows))
        params, opt_state, loss = step(params, opt_state, batch)
    print(f"epoch {epoch + 1}: loss {float(loss):.4f}")
# --8<-- [end:script]
