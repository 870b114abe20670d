"""Trains on MNIST, saves and evaluates, and says what it does: what `tests.benchmarks.chaos` disturbs.

    jaxtribute launch --workers 3 interrupted.py DIGITS DIRECTORY

A line of `DIRECTORY/phases-0.txt` says what task 0 begins, and the number of its process. Task 0 leaves the weights.
"""

import os
import sys
from pathlib import Path


def begin(phase: str) -> None:
    print(phase, os.getpid(), file=phases, flush=True)


digits, directory = sys.argv[1], Path(sys.argv[2])
task = os.environ["TF_CONFIG"].rpartition('"index": ')[2].rstrip("}")
phases = (directory / f"phases-{task}.txt").open("a")
begin("start")

import numpy as np  # noqa: E402

from frontends import tf  # noqa: E402

STEPS, SAVES, EVALUATES = 60, 7, 20

strategy = tf.distribute.MultiWorkerMirroredStrategy()
tf.keras.utils.set_random_seed(0)

with np.load(digits) as loaded:
    images = loaded["images"].reshape(-1, 784).astype(np.float32) / 255
    labels = loaded["labels"].astype(np.int64)
rows = len(images) * 4 // 5
training = tf.data.Dataset.from_tensor_slices((images[:rows], labels[:rows]))
training = strategy.experimental_distribute_dataset(training.shuffle(rows).batch(100).repeat())
test = tf.data.Dataset.from_tensor_slices((images[rows:], labels[rows:])).batch(100)
test = strategy.experimental_distribute_dataset(test)

with strategy.scope():
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [layers.Dense(32, activation="relu"), layers.Dropout(0.3), layers.Dense(10)]
    )
    model.build((None, 784))
    optimizer = tf.keras.optimizers.Adam(0.01)
    losses = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")
    accuracy = tf.keras.metrics.SparseCategoricalAccuracy()
    step = tf.Variable(0)


@tf.function
def train(batch):
    def of_replica(batch):
        x, y = batch
        with tf.GradientTape() as tape:
            loss = tf.nn.compute_average_loss(losses(y, model(x, training=True)))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        step.assign_add(1)

    strategy.run(of_replica, args=(batch,))


@tf.function
def evaluate(batch):
    strategy.run(lambda x, y: accuracy.update_state(y, model(x)), args=batch)


iterator = iter(training)
checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer, step=step, iterator=iterator)
manager = tf.train.CheckpointManager(checkpoint, str(directory / "checkpoints"), max_to_keep=2)
begin("restore")
manager.restore_or_initialize()
begin("compile")
while int(step) < STEPS:
    train(next(iterator))
    begin("step")
    if int(step) % SAVES == 0:
        begin("save")
        manager.save()
    if int(step) % EVALUATES == 0:
        begin("evaluate")
        accuracy.reset_state()
        for batch in test:
            evaluate(batch)

if task == "0":
    state = [*model.get_weights(), *(np.asarray(each) for each in optimizer.variables)]
    np.savez(directory / "weights.npz", *state, accuracy=np.asarray(accuracy.result()))
