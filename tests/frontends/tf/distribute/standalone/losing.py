"""A program that loses each of its workers once, restores its checkpoint and goes on."""

import json
import sys
import tempfile
import time
from typing import Any

from frontends import tf

tf.config.experimental_connect_to_cluster(tf.train.ClusterSpec(json.loads(sys.argv[1])))
folder = tempfile.mkdtemp()
errors, counts = [], []


def run(steps: int) -> tuple[Any, tf.Variable]:
    """Makes a strategy, and counts on from the last checkpoint."""
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    with strategy.scope():
        count = tf.Variable(0.0)
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(count=count), folder, 1)
    manager.restore_or_initialize()

    @tf.function
    def step():
        strategy.run(lambda: count.assign(count + 1.0))

    for _ in range(steps):
        step()
    manager.save()
    return step, count


step, count = run(20)
for worker in (1, 0):
    print(f"kill {worker}", flush=True)
    try:
        while True:
            step()
            time.sleep(0.01)
    except tf.errors.UnavailableError as error:
        errors.append(str(error))
    print(f"start {worker}", flush=True)
    step, count = run(5)
    counts.append(float(count.numpy()))
print(json.dumps({"errors": errors, "counts": counts}))
