"""Many steps on many simulated devices, in a process of its own: XLA aborts one whose threads run out."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

import spmd

ROOT = Path(spmd.__file__).parents[1]
TRAINING = """
import json

import spmd

spmd.simulate_devices(8)

import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

mesh = spmd.make_mesh()
rngs = nnx.Rngs(0)
model = nnx.Sequential(nnx.Linear(4, 16, rngs=rngs), nnx.relu, nnx.Linear(16, 1, rngs=rngs))
optimizer = nnx.Optimizer(model, optax.adam(1e-2), wrt=nnx.Param)


def train(batch):
    def loss(model):
        return spmd.average_loss((model(batch["x"])[:, 0] - batch["y"]) ** 2)

    value, gradients = nnx.value_and_grad(loss)(model)
    optimizer.update(model, gradients)
    return spmd.all_reduce(value)


x = np.random.default_rng(0).normal(size=(64, 4)).astype(np.float32)
batch = next(iter(spmd.distribute({"x": x, "y": x.sum(1)}, mesh, batch_size=64)))
step = spmd.Step(train, mesh)
losses = [step(batch) for _ in range(500)]
print(json.dumps([len(mesh.devices), step.trace_count, *map(float, losses)]))
"""


@pytest.mark.slow
def test_five_hundred_steps_on_eight_devices() -> None:
    inherited = {k: v for k, v in os.environ.items() if k not in ("XLA_FLAGS", "NPROC")}
    done = subprocess.run(
        [sys.executable, "-c", TRAINING],
        cwd=ROOT,
        # As on a machine with one processor, where XLA would start too few threads by itself.
        env={**inherited, "PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu", "NPROC": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    devices, traces, *losses = json.loads(done.stdout)
    assert (devices, traces, len(losses)) == (8, 1, 500)
    assert all(map(math.isfinite, losses))
    assert losses[-1] < 0.01 * losses[0]
