"""A coordinator's program that does what its input says, line by line, and answers each line with one in JSON."""

import json
import signal
import sys
import time
from typing import Any

import numpy as np

from frontends import tf

# A shell has what it runs in the background ignore interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)
resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
strategy = tf.distribute.ParameterServerStrategy(resolver)
coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
with strategy.scope():
    counter = tf.Variable(0)


def wait(seconds: float) -> int:
    """Takes so long, counts, and tells which worker it ran on."""
    time.sleep(seconds)
    counter.assign_add(1)
    return tf.distribute.coordinator.experimental_get_current_worker_index()


def hold(seconds: float) -> int:
    """Takes so long, in Python code that never sleeps."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sum(range(1000))
    return wait(0)


def fit(steps: int) -> dict[str, Any]:
    """Trains a model."""
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
        model.compile("adam", "mse", steps_per_execution=5)

    def make(context: object) -> Any:
        rows = np.ones((8, 3), np.float32)
        return tf.data.Dataset.from_tensor_slices((rows, rows[:, :1])).repeat().batch(4)

    data = tf.keras.utils.experimental.DatasetCreator(make)
    model.fit(data, steps_per_epoch=steps, verbose=0)
    return {"iterations": int(model.optimizer.iterations.numpy())}


def read() -> dict[str, Any]:
    """Reads a variable."""
    return {"value": int(counter.numpy())}


def run(name: str, count: int, seconds: float) -> dict[str, Any]:
    """Has functions run, and waits for them."""
    began, start = time.monotonic(), int(counter.numpy())
    values = [coordinator.schedule(globals()[name], args=(seconds,)) for _ in range(count)]
    coordinator.join()
    workers = [int(value.fetch()) for value in values]
    return {
        "workers": sorted(set(workers)),
        "ran": len(workers),
        "counted": int(counter.numpy()) - start,
        "seconds": time.monotonic() - began,
    }


print(json.dumps("ready"), flush=True)
for line in sys.stdin:
    name, count, seconds = line.split()
    try:
        if name == "fit":
            answer = fit(int(count))
        elif name == "read":
            answer = read()
        else:
            answer = run(name, int(count), float(seconds))
    except tf.errors.UnavailableError as error:
        answer = {"lost": str(error)}
    print(json.dumps(answer), flush=True)
