"""What AutoGraph costs when a step is traced: MobileNetV2's training step, converted, and as it stands."""

import gc
import importlib.util
import itertools
import json
import os
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import spmd
from frontends import tf
from tests.benchmarks.timing import rows_of

PROGRAM = Path(__file__).parent / "programs" / "mobilenet_step.py"
SIZE, ROWS, ROUNDS = 224, 2, 9


def main(devices: int) -> None:
    """Measures on some devices, and prints rows of the table as JSON."""
    os.environ["KERAS_BACKEND"] = "jax"
    spmd.simulate_devices(devices)
    import keras

    strategy = tf.distribute.MirroredStrategy()
    with strategy.scope():
        model = keras.applications.MobileNetV2((SIZE, SIZE, 3), weights=None, classes=10)
        optimizer = keras.optimizers.SGD(0.1)
        optimizer.build(model.trainable_variables)
    losses = keras.losses.SparseCategoricalCrossentropy(reduction="none")
    x = np.zeros((ROWS * devices, SIZE, SIZE, 3), np.float32)
    labels = np.zeros(len(x), np.int32)
    [batch] = spmd.distribute((x, labels), strategy.mesh, batch_size=len(x))
    numbers = itertools.count()

    def milliseconds(converts: bool, directory: str) -> float:
        train_step = _loaded(directory, next(numbers)).step_of(tf, model, optimizer, losses)

        @tf.function(autograph=converts)
        def train(batch: Any) -> Any:
            return strategy.reduce("SUM", strategy.run(train_step, args=batch), axis=None)

        gc.collect()
        start = time.perf_counter()
        train.get_concrete_function(batch)
        return (time.perf_counter() - start) * 1e3

    times: dict[str, list[float]] = {"converted by AutoGraph": [], "not converted": []}
    with tempfile.TemporaryDirectory() as directory:
        for converts in (True, False):  # what is made once
            milliseconds(converts, directory)
        for _ in range(ROUNDS):
            # Another order every round: no trace pays for the one before.
            for name in random.sample(list(times), 2):
                times[name].append(milliseconds(name.startswith("converted"), directory))
    print(json.dumps(rows_of(times, devices, "milliseconds a trace")))


def _loaded(directory: str, number: int) -> Any:
    """Loads the step's module, some lines further down: AutoGraph remembers code that it converted."""
    path = Path(directory) / f"step_{number}.py"
    path.write_text("\n" * number + PROGRAM.read_text())
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main(int(sys.argv[1]))
