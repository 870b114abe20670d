"""Asynchronous training on parameter servers, in processes of their own, as TensorFlow's users write it.

The coordinator's program starts the other tasks: `python -m tests.benchmarks.programs.servers FRONT_END` runs the
one that TF_CONFIG names, until its input ends. What users write is the same with either import line. TensorFlow
runs with Keras 2 (`tf_keras`): Keras 3 does not know parameter servers there.
"""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.benchmarks.programs import digits
from tests.benchmarks.programs.weights import initial
from tests.benchmarks.turns import ROOT, Ready
from tests.ports import free_addresses

WORKERS = 2
STEPS = 300
BATCH = 64
# Of the recommender.
USERS, ITEMS, WIDTH, PAIRS = 1_000_000, 100_000, 64, 512


def mlp(tf: Any, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """The multilayer perceptron 784-256-10, 64 rows a step, with SGD written out: two workers, one server."""
    strategy, coordinator = _cluster(tf)
    generator = np.random.default_rng(0)
    shapes = [(784, 256), (256,), (256, 10), (10,)]
    with strategy.scope():
        variables = [tf.Variable(initial(generator, shape)) for shape in shapes]
    w1, b1, w2, b2 = variables
    images, labels = digits.scaled(path, BATCH * 200)
    images = images.reshape(-1, 784)

    def replica(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            logits = tf.matmul(tf.nn.relu(tf.matmul(x, w1) + b1), w2) + b2
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
        for variable, gradient in zip(variables, tape.gradient(loss, variables), strict=True):
            variable.assign_sub(0.1 * gradient)
        return loss

    def data() -> Any:
        return tf.data.Dataset.from_tensor_slices((images, labels))

    return _turns(tf, strategy, coordinator, replica, data, BATCH)


def recommender(tf: Any, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """Two tables, 1,000,000 and 100,000 rows of 64, looked up by 512 pairs a step, and a small network; Adagrad."""
    strategy, coordinator = _cluster(tf)
    generator = np.random.default_rng(0)

    def table(rows: int) -> Any:
        return generator.standard_normal((rows, WIDTH), np.float32) * np.float32(0.05)

    with strategy.scope():
        users, items = tf.Variable(table(USERS)), tf.Variable(table(ITEMS))
        shapes = [(2 * WIDTH, 64), (64,), (64, 1), (1,)]
        dense = [tf.Variable(initial(generator, shape)) for shape in shapes]
        optimizer = tf.keras.optimizers.Adagrad(0.05)
        optimizer.build([users, items, *dense])
    w1, b1, w2, b2 = dense
    pairs = generator.integers(0, (USERS, ITEMS), (PAIRS * 100, 2)).astype(np.int32)
    labels = generator.integers(0, 2, (len(pairs), 1)).astype(np.float32)

    def replica(pair: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            user = tf.nn.embedding_lookup(users, pair[:, 0])
            item = tf.nn.embedding_lookup(items, pair[:, 1])
            hidden = tf.nn.relu(tf.matmul(tf.concat([user, item], 1), w1) + b1)
            logits = tf.matmul(hidden, w2) + b2
            loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(y, logits))
        variables = [users, items, *dense]
        gradients = tape.gradient(loss, variables)
        optimizer.apply_gradients(zip(gradients, variables, strict=True))
        return loss

    def data() -> Any:
        return tf.data.Dataset.from_tensor_slices((pairs, labels))

    return _turns(tf, strategy, coordinator, replica, data, PAIRS)


def _turns(
    tf: Any, strategy: Any, coordinator: Any, replica: Any, data: Any, batch: int
) -> tuple[Ready, Callable[[], None]]:
    """Checks the loss after three steps, one after the other; a turn is as many steps as workers get to."""

    @tf.function
    def step(iterator: Any) -> Any:
        return strategy.run(replica, args=next(iterator))

    first = iter(
        coordinator.create_per_worker_dataset(lambda: data().take(batch).batch(batch).repeat())
    )
    for _ in range(3):
        check = float(coordinator.schedule(step, args=(first,)).fetch())
    shuffled = coordinator.create_per_worker_dataset(
        lambda: data().shuffle(1000).repeat().batch(batch)
    )
    batches = iter(shuffled)

    def turn() -> None:
        for _ in range(STEPS):
            coordinator.schedule(step, args=(batches,))
        coordinator.join()

    turn()
    return Ready(STEPS, check), turn


def _cluster(tf: Any) -> tuple[Any, Any]:
    """Starts two workers and a server, which end with this process; returns a strategy and its coordinator."""
    counts = {"chief": 1, "worker": WORKERS, "ps": 1}
    addresses = iter(free_addresses(sum(counts.values())))
    cluster = {job: [next(addresses) for _ in range(count)] for job, count in counts.items()}
    front_end = "tensorflow" if tf.__name__ == "tensorflow" else "jaxtribute"
    for job in ("worker", "ps"):
        for index in range(counts[job]):
            config = {"cluster": cluster, "task": {"type": job, "index": index}}
            subprocess.Popen(
                [sys.executable, "-m", __name__, front_end],
                cwd=ROOT,
                env=os.environ | {"TF_CONFIG": json.dumps(config), "TF_CPP_MIN_LOG_LEVEL": "3"},
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
            )
    os.environ["TF_CONFIG"] = json.dumps(
        {"cluster": cluster, "task": {"type": "chief", "index": 0}}
    )
    strategy = tf.distribute.ParameterServerStrategy(
        tf.distribute.cluster_resolver.TFConfigClusterResolver()
    )
    return strategy, tf.distribute.coordinator.ClusterCoordinator(strategy)


def _serve(front_end: str) -> None:
    def end() -> None:
        sys.stdin.read()
        os._exit(0)

    threading.Thread(target=end, daemon=True).start()
    if front_end == "tensorflow":
        import tensorflow as tf
    else:
        from frontends import tf
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    tf.distribute.Server(
        resolver.cluster_spec(),
        job_name=resolver.task_type,
        task_index=resolver.task_id,
        protocol="grpc",
    ).join()


if __name__ == "__main__":
    _serve(sys.argv[1])
