"""Trains on the cluster of TF_CONFIG, saves, goes on after a restart; and kills itself, if it is told to.

    jaxtribute launch --workers 2 train.py DIRECTORY [KILLS]

In each of the first KILLS starts one worker, drawn at random, gets a SIGKILL some time after a step drawn at
random. Each worker notes the steps that it finished; the first one leaves the weights.
"""

import os
import random
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np

from frontends import tf

STEPS, INTERVAL = 120, 7

directory = Path(sys.argv[1])
kills = int(sys.argv[2]) if len(sys.argv) > 2 else 0
restart = int(os.environ.get("JAXTRIBUTE_RESTART", 0))

strategy = tf.distribute.MultiWorkerMirroredStrategy()
me = strategy.cluster_resolver.task_id or 0
tf.keras.utils.set_random_seed(0)

numbers = np.random.default_rng(0)
x = numbers.normal(size=(230, 12)).astype(np.float32)
dataset = tf.data.Dataset.from_tensor_slices((x, (x.sum(1) > 0).astype(np.int32)))
# The last batch of a pass is partial.
dataset = strategy.experimental_distribute_dataset(dataset.shuffle(230).batch(24))

with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Dense(16, activation="relu"),
            tf.keras.layers.Dropout(0.3),
            tf.keras.layers.Dense(2),
        ]
    )
    model.build((None, 12))
    optimizer = tf.keras.optimizers.Adam(0.01)
    losses = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")
    seen = tf.keras.metrics.SparseCategoricalAccuracy()
    step = tf.Variable(0)


@tf.function
def train(batch):
    def of_replica(batch):
        x, y = batch
        with tf.GradientTape() as tape:
            logits = model(x, training=True)
            loss = tf.nn.compute_average_loss(losses(y, logits))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        seen.update_state(y, logits)
        step.assign_add(1)
        return loss

    return strategy.reduce("SUM", strategy.run(of_replica, args=(batch,)), axis=None)


checkpoint = tf.train.Checkpoint(
    model=model, optimizer=optimizer, seen=seen, step=step, dataset=dataset
)
manager = tf.train.CheckpointManager(checkpoint, str(directory / "checkpoints"), max_to_keep=2)
manager.restore_or_initialize()

draw = random.Random(restart)
workers = max(1, len(strategy.cluster_resolver.cluster_spec().as_dict().get("worker", [])))
victim, at = draw.randrange(workers), int(step) + draw.randrange(1, 2 * INTERVAL)
moment = draw.random() * 0.05
finished = threading.Event()


def kill_self():
    finished.wait()
    time.sleep(moment)  # in the middle of whatever comes next
    os.kill(os.getpid(), signal.SIGKILL)


if restart < kills and me == victim:
    threading.Thread(target=kill_self, daemon=True).start()

with open(directory / f"steps-{me}.txt", "a") as notes:
    print("start", restart, int(step), file=notes, flush=True)
    while int(step) < STEPS:
        for batch in dataset:
            train(batch)
            print("step", int(step), file=notes, flush=True)
            if int(step) == at:
                finished.set()
            if int(step) % INTERVAL == 0:
                manager.save()
            if int(step) == STEPS:
                break

if me == 0:
    state = [*model.get_weights(), *(np.asarray(v) for v in optimizer.variables), seen.result()]
    np.savez(directory / "weights.npz", *state)
