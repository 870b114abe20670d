"""Trains on as many workers as TF_CONFIG has, saves, and goes on after a restart, with another number of them.

    jaxtribute launch --workers 2:4 elastic.py DIRECTORY [WORKER ...]

The WORKERs get SIGKILL after a step of the first attempt that has four, with their launchers if KILL_LAUNCHERS is set; while
fewer than four are launched, later steps take long. The first worker notes the number of workers of each attempt, and step, loss
and rows of each step, and leaves the weights.
"""

import os
import signal
import sys
import time
from pathlib import Path

import numpy as np

from frontends import tf

STEPS, INTERVAL, KILL_AT, SLOW_FROM, ALL = 60, 4, 14, 26, 4

directory, victims = Path(sys.argv[1]), [int(word) for word in sys.argv[2:]]

is_launched = "JAXTRIBUTE_RESTART" in os.environ

strategy = tf.distribute.MultiWorkerMirroredStrategy()
me = strategy.cluster_resolver.task_id or 0
workers = len(strategy.cluster_resolver.cluster_spec().as_dict().get("worker", [1]))
tf.keras.utils.set_random_seed(0)

rows = np.arange(230, dtype=np.int32)
x = np.random.default_rng(0).normal(size=(230, 12)).astype(np.float32)
dataset = tf.data.Dataset.from_tensor_slices((rows, x, (x.sum(1) > 0).astype(np.int32)))
# The last batch of a pass is partial.
dataset = strategy.experimental_distribute_dataset(dataset.shuffle(230).batch(24))

with strategy.scope():
    model = tf.keras.Sequential(
        [tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(2)]
    )
    model.build((None, 12))
    optimizer = tf.keras.optimizers.Adam(0.01)
    losses = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")
    step = tf.Variable(0)


@tf.function
def train(batch):
    def of_replica(batch):
        row, x, y = batch
        with tf.GradientTape() as tape:
            loss = tf.nn.compute_average_loss(losses(y, model(x, training=True)))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        step.assign_add(1)
        return loss, row

    loss, row = strategy.run(of_replica, args=(batch,))
    return strategy.reduce("SUM", loss, axis=None), row


checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer, step=step, dataset=dataset)
manager = tf.train.CheckpointManager(checkpoint, str(directory / "checkpoints"), max_to_keep=2)
# Restores the newest one, and saves when the launcher asks all to end.
handler = tf.distribute.experimental.PreemptionCheckpointHandler(strategy.cluster_resolver, manager)

with open(directory / "notes.txt" if me == 0 else os.devnull, "a") as notes:
    print("attempt", workers, int(step), file=notes, flush=True)
    while int(step) < STEPS:
        for batch in dataset:
            loss, row = train(batch)
            row = strategy.gather(row, axis=0)
            print("step", int(step), float(loss), *map(int, row), file=notes, flush=True)
            if int(step) == KILL_AT and workers == ALL and me in victims:
                launcher = os.environ.get("KILL_LAUNCHERS")
                os.kill(os.getppid() if launcher else os.getpid(), signal.SIGKILL)
                signal.pause()
            if int(step) % INTERVAL == 0:
                manager.save()
            handler.save_checkpoint_if_preempted()
            if int(step) == STEPS:
                break
            if is_launched and workers < ALL and int(step) >= SLOW_FROM:
                time.sleep(5.0)

if me == 0:
    np.savez(directory / "weights.npz", *model.get_weights())
