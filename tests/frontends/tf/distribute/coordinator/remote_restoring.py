"""A coordinator's program that outlives its servers: trains, saves, and restores when a server is lost.

Arguments: the folder of its checkpoints, how many steps to train, and how many between checkpoints.
"""

import json
import sys
import time
from typing import Any

import numpy as np

from frontends import tf

FOLDER, TOTAL, EVERY = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
rows = np.random.default_rng(0).normal(size=(64, 4)).astype(np.float32)
targets = rows @ np.arange(4, dtype=np.float32)[:, None]


def make_data() -> Any:
    """Makes a worker's dataset."""
    return tf.data.Dataset.from_tensor_slices((rows, targets)).repeat().batch(16)


def train() -> dict[str, Any]:
    """Trains from the last checkpoint on, to the end; returns what came of it."""
    strategy = tf.distribute.ParameterServerStrategy(resolver)
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    with strategy.scope():
        weight = tf.Variable(np.zeros((4, 1), np.float32))
        # Adam would leave the minimum again and again, with gradients of several workers and none left to average.
        optimizer = tf.keras.optimizers.SGD(0.02, momentum=0.9)
        optimizer.build([weight])
        done = tf.Variable(0)
    checkpoint = tf.train.Checkpoint(weight=weight, optimizer=optimizer, done=done)
    manager = tf.train.CheckpointManager(checkpoint, FOLDER, max_to_keep=2)
    manager.restore_or_initialize()
    print("from", int(done.numpy()), flush=True)

    @tf.function
    def step(iterator):
        def replica(x, y):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((tf.matmul(x, weight) - y) ** 2)
            optimizer.apply_gradients(zip(tape.gradient(loss, [weight]), [weight], strict=True))
            done.assign_add(1)

        strategy.run(replica, args=next(iterator))

    iterator = iter(coordinator.create_per_worker_dataset(make_data))
    while (steps := int(done.numpy())) < TOTAL:
        for _ in range(min(EVERY, TOTAL - steps)):
            coordinator.schedule(step, args=(iterator,))
        coordinator.join()
        manager.save()
        print("saved", int(done.numpy()), flush=True)
    return {
        "done": int(done.numpy()),
        "iterations": int(optimizer.iterations.numpy()),
        "weight": weight.numpy()[:, 0].tolist(),
    }


lost: list[str] = []
while True:
    try:
        found = train()
    except tf.errors.UnavailableError as error:
        lost.append(str(error))
        print("lost", time.time(), error, flush=True)
    else:
        break
print(json.dumps(found | {"lost": lost}))
