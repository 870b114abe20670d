"""How the time of a recommender's step grows with its table: `python -m tests.benchmarks.table_size DEVICES`.

A step looks up as many rows of a small table as of a large one, and most optimizers of TensorFlow 1 update these rows alone, as Keras's Adagrad does;
Adam of Keras moves all rows, here as with TensorFlow.
"""

import itertools
import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import spmd
from frontends import tf

# The smallest one fits in a cache of the processor, the largest in none.
SIZES = (10_000, 100_000, 1_000_000)
WIDTH, ROWS, IDS = 64, 512, 8
ROUNDS, STEPS = 9, 5
_TRAIN = tf.compat.v1.train
OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "Adagrad": lambda: _TRAIN.AdagradOptimizer(0.1),
    "momentum": lambda: _TRAIN.MomentumOptimizer(0.1, 0.9),
    "Adagrad of Keras": lambda: tf.keras.optimizers.Adagrad(0.1),
    "Adam of Keras": lambda: tf.keras.optimizers.Adam(0.1),
}


def _program(strategy: tf.distribute.Strategy, name: str, size: int) -> Callable[[], Any]:
    """Makes a step on ids that are others every time."""
    with strategy.scope():
        table = tf.Variable(np.full((size, WIDTH), 0.1, np.float32))
        kernel = tf.Variable(np.full((WIDTH, 1), 0.1, np.float32))
        optimizer = OPTIMIZERS[name]()

    def replica(ids: Any) -> Any:
        def loss() -> Any:
            vectors = tf.reduce_mean(tf.nn.embedding_lookup(table, ids), axis=1)
            return tf.reduce_mean((tf.matmul(vectors, kernel) - 1.0) ** 2)

        with tf.GradientTape() as tape:
            value = loss()
        variables = [table, kernel]
        optimizer.apply_gradients(zip(tape.gradient(value, variables), variables, strict=True))
        return tf.reduce_sum(kernel)

    @tf.function
    def step(ids: Any) -> Any:
        return strategy.reduce("SUM", strategy.run(replica, args=(ids,)), axis=None)

    draws = np.random.default_rng(0)
    ids = draws.integers(0, size, (8, ROWS, IDS)).astype(np.int32)
    batches = itertools.cycle([tf.constant(batch) for batch in ids])
    return lambda: step(next(batches))


def measure(devices: int) -> list[dict[str, str]]:
    """Measures all optimizers on all tables, which take turns.

    Args:
        devices: how many replicas there are.

    Returns:
        Rows of the report, one for each optimizer and table.
    """
    strategy = tf.distribute.MirroredStrategy([f"cpu:{index}" for index in range(devices)])
    report: list[dict[str, str]] = []
    for name in OPTIMIZERS:
        programs = {size: _program(strategy, name, size) for size in SIZES}
        times: dict[int, list[float]] = {size: [] for size in SIZES}
        for _ in range(ROUNDS):
            for size, step in programs.items():
                float(step())
                start = time.perf_counter()
                for _ in range(STEPS):
                    last = step()
                float(last)
                times[size].append((time.perf_counter() - start) / STEPS * 1e3)
        for size in SIZES:
            pairs = zip(times[size], times[SIZES[0]], strict=True)
            report.append(
                {
                    "devices": str(devices),
                    "optimizer": name,
                    "rows of the table": f"{size:,}",
                    "milliseconds a step": f"{statistics.median(times[size]):.1f}",
                    "this / smallest table": f"{statistics.median(a / b for a, b in pairs):.2f}",
                }
            )
    return report


if __name__ == "__main__":
    spmd.simulate_devices(int(sys.argv[1]))
    print(json.dumps(measure(int(sys.argv[1]))))
