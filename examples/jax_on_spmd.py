"""Data-parallel training on the engine; examples/jax_by_hand.py is the same in plain JAX.

python examples/jax_on_spmd.py --devices 2
"""

import argparse

import jax
import optax
from _mlp import GLOBAL_BATCH_SIZE, init_params, read_digits, row_losses

import spmd

parser = argparse.ArgumentParser(description="Train a small network on MNIST.")
parser.add_argument("--devices", type=int, default=2, help="how many CPU devices (default: 2)")
parser.add_argument("--epochs", type=int, default=3, help="passes over the digits (default: 3)")
arguments = parser.parse_args()
spmd.simulate_devices(arguments.devices)

# --8<-- [start:script]
mesh = spmd.make_mesh()
tx = optax.chain(spmd.sum_over_replicas(), optax.adam(1e-3))
params = spmd.Variable(init_params(), name="params")
opt_state = spmd.Variable(tx.init(params.value), name="opt_state")


@spmd.Step
def step(batch):
    def loss_fn(params):
        return spmd.average_loss(row_losses(params, batch))

    loss, gradients = jax.value_and_grad(loss_fn)(params.value)
    updates, opt_state.value = tx.update(gradients, opt_state.value, params.value)
    params.value = optax.apply_updates(params.value, updates)
    return spmd.all_reduce(loss)


batches = spmd.distribute(read_digits("train"), mesh, batch_size=GLOBAL_BATCH_SIZE)
for epoch in range(arguments.epochs):
    for batch in batches:
        loss = step(batch)
    print(f"epoch {epoch + 1}: loss {float(loss):.4f}")
# --8<-- [end:script]
