"""Starts when it is told to, and trains until it is told to end: what `tests.benchmarks.attack` attacks.

jaxtribute launch --workers 2 attacked.py DIRECTORY
"""

import json
import os
import sys
import time
from pathlib import Path

directory = Path(sys.argv[1])
config = json.loads(os.environ["TF_CONFIG"])
(directory / f"task-{config['task']['index']}.json").write_text(json.dumps(config))
while config["task"]["index"] == 1 and not (directory / "start").exists():
    time.sleep(0.1)

import numpy as np  # noqa: E402

from frontends import tf  # noqa: E402

strategy = tf.distribute.MultiWorkerMirroredStrategy()
with strategy.scope():
    total = tf.Variable(0.0)


@tf.function
def step(ends):
    def of_replica(ends):
        total.assign_add(1.0)
        return ends

    return strategy.reduce("SUM", strategy.run(of_replica, args=(ends,)), axis=None)


def ends():
    """What each process sees: one may see it a step before the other."""
    return strategy.experimental_distribute_values_from_function(
        lambda _: np.float32((directory / "end").exists())
    )


steps = 0
while not float(step(ends())):
    steps += 1
    (directory / "steps").write_text(str(steps))
    time.sleep(0.05)
assert float(total) == steps + 1
print(f"ended after step {steps + 1}")
