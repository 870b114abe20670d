"""Steps to plan: `make` for two layers, `make_deep` for eight; as a script, an evaluation and then training."""

import sys

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

import spmd

WIDTH = 256


def make(layers=2, rows=64):
    """Returns a training step and its batch: bytes of images, which the step makes numbers of."""
    mesh = spmd.make_mesh()
    rngs = nnx.Rngs(0)
    model = nnx.Sequential(*[nnx.Linear(WIDTH, WIDTH, rngs=rngs) for _ in range(layers)])
    optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)

    def train_step(images):
        def loss_of(model):
            outputs = model(images.astype(jnp.float32) / 255)
            return spmd.average_loss((outputs**2).mean(-1))

        loss, gradients = nnx.value_and_grad(loss_of)(model)
        optimizer.update(model, gradients)
        return spmd.all_reduce(loss)

    rows *= mesh.size
    batch = spmd.input.abstract_batch(jax.ShapeDtypeStruct((rows, WIDTH), "uint8"), mesh)
    return spmd.Step(train_step, mesh), (batch,)


def make_deep():
    """Returns the same with eight layers."""
    return make(layers=8)


def make_nothing():
    """Returns no step."""
    return 3


if __name__ == "__main__":
    print("arguments", sys.argv[1:])
    step, _ = make()
    total = spmd.Variable(np.float32(0), kind="sum")
    start = spmd.Variable(np.float32(0))

    def initialise():
        start.value = jnp.ones(())

    def evaluate(images):
        total.value = total.value + images.sum()
        return spmd.all_reduce(images.sum())

    spmd.Step(initialise)()
    data = np.ones((64, WIDTH), np.uint8)
    for batch in spmd.distribute(data, step.mesh, batch_size=64):
        print("evaluated", int(spmd.Step(evaluate)(batch)), "start", float(start.value))
        print("trained", step(batch))
