"""How long a loop waits for a save that goes on in a thread: ours, against Orbax's own asynchronous save."""

import gc
import json
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np
import optax
import orbax.checkpoint as ocp
from flax import nnx

import spmd
from spmd.checkpoint import Checkpoint
from tests.benchmarks.timing import rows_of

LAYERS, WIDTH, ROWS = 24, 512, 32
ROUNDS, STEPS = 24, 3


class Model(nnx.Module):
    """An MLP."""

    def __init__(self) -> None:
        rngs = nnx.Rngs(0)
        self.layers = nnx.List([nnx.Linear(WIDTH, WIDTH, rngs=rngs) for _ in range(LAYERS)])

    def __call__(self, x: Any) -> Any:
        for layer in self.layers:
            x = nnx.relu(layer(x))
        return x


def loop(devices: int) -> tuple[Any, Any, Callable[[], None]]:
    """A model, its optimizer, and a function that trains some steps and waits for them."""
    mesh = spmd.make_mesh([f"cpu:{index}" for index in range(devices)])
    model = Model()
    optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)

    def train(x: Any) -> None:
        optimizer.update(model, nnx.grad(lambda model: (model(x) ** 2).mean())(model))

    step = spmd.Step(train, mesh)
    (batch,) = spmd.distribute(np.ones((ROWS, WIDTH), np.float32), mesh, batch_size=ROWS)

    def steps() -> None:
        for _ in range(STEPS):
            step(batch)
        jax.block_until_ready((nnx.state(model), nnx.state(optimizer)))

    return model, optimizer, steps


def ours(model: Any, optimizer: Any) -> tuple[Callable[[Path], Any], Callable[[], None]]:
    """Saves with `spmd.checkpoint`, and waits for it."""
    checkpoint = Checkpoint(model=model, optimizer=optimizer)
    return checkpoint.save, checkpoint.wait


def orbax(model: Any, optimizer: Any) -> tuple[Callable[[Path], Any], Callable[[], None]]:
    """The same with Orbax alone."""
    checkpointer = ocp.AsyncCheckpointer(
        ocp.PyTreeCheckpointHandler(use_ocdbt=True, use_zarr3=True)
    )

    def save(path: Path) -> None:
        state = [nnx.to_pure_dict(nnx.state(thing)) for thing in (model, optimizer)]
        checkpointer.save(path, args=ocp.args.PyTreeSave(state))

    return save, checkpointer.wait_until_finished


def main(devices: int) -> None:
    """Prints the rows of the table as JSON."""
    spmd.simulate_devices(max(devices, 2))
    model, optimizer, steps = loop(devices)
    programs = {
        "spmd.checkpoint": ours(model, optimizer),
        "orbax.checkpoint.AsyncCheckpointer": orbax(model, optimizer),
    }
    stalls: dict[str, list[float]] = {name: [] for name in programs}
    folder = Path(tempfile.mkdtemp())
    for turn in range(ROUNDS + 1):
        order = list(programs)
        random.shuffle(order)
        for name in order:
            save, wait = programs[name]
            path = folder / f"{len(stalls[name])}-{order.index(name)}"
            gc.collect()
            steps()
            start = time.perf_counter()
            save(path)
            stall = time.perf_counter() - start
            steps()  # training goes on
            wait()
            shutil.rmtree(path)
            if turn:  # the first one imports and compiles
                stalls[name].append(1e3 * stall)
    print(json.dumps(rows_of(stalls, devices, "milliseconds a save blocks")))


if __name__ == "__main__":
    main(int(sys.argv[1]))
