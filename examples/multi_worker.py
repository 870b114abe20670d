"""A TensorFlow script for many workers, its import line changed: it trains, saves, and goes on after a restart.

    jaxtribute launch --workers 2 --devices-per-worker 2 examples/multi_worker.py

It follows TensorFlow's tutorial "Custom training loop with Keras and MultiWorkerMirroredStrategy". Started as it
is, it trains alone; on a cluster, TF_CONFIG says who the workers are. Kill one of them (`kill -9`), and all start
again from the last checkpoint, at the batch that comes next.
"""

import argparse

import numpy as np
from _digits import load

from frontends import tf  # was: import tensorflow as tf

parser = argparse.ArgumentParser(description="Train Keras on MNIST with many workers.")
parser.add_argument("--steps", type=int, default=300, help="steps to train (default: 300)")
parser.add_argument("--save-every", type=int, default=50, help="steps between checkpoints (50)")
parser.add_argument("--directory", default="checkpoints", help="where checkpoints go (checkpoints)")
parser.add_argument(
    "--batch-size", type=int, default=128, help="rows of all workers (default: 128)"
)
arguments = parser.parse_args()

strategy = tf.distribute.MultiWorkerMirroredStrategy()  # first: it joins the cluster
worker = strategy.cluster_resolver.task_id or 0
tf.keras.utils.set_random_seed(0)

images, labels = load("train")
dataset = tf.data.Dataset.from_tensor_slices(((images / 255.0).astype(np.float32), labels))
dataset = dataset.shuffle(len(labels)).repeat().batch(arguments.batch_size)
batches = iter(strategy.experimental_distribute_dataset(dataset))

with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(128, activation="relu"),
            tf.keras.layers.Dropout(0.2),
            tf.keras.layers.Dense(10),
        ]
    )
    model.build((None, 28, 28, 1))
    optimizer = tf.keras.optimizers.Adam()
    cross_entropy = tf.keras.losses.SparseCategoricalCrossentropy(
        from_logits=True, reduction=tf.keras.losses.Reduction.NONE
    )
    accuracy = tf.keras.metrics.SparseCategoricalAccuracy()
    step = tf.Variable(0, name="step")


@tf.function
def train_step(batch):
    def of_replica(batch):
        images, labels = batch
        with tf.GradientTape() as tape:
            logits = model(images, training=True)
            loss = tf.nn.compute_average_loss(
                cross_entropy(labels, logits), global_batch_size=arguments.batch_size
            )
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        accuracy.update_state(labels, logits)
        step.assign_add(1)
        return loss

    return strategy.reduce("SUM", strategy.run(of_replica, args=(batch,)), axis=None)


# All workers save and restore: who writes what is not the script's business.
checkpoint = tf.train.Checkpoint(
    model=model, optimizer=optimizer, accuracy=accuracy, step=step, batches=batches
)
manager = tf.train.CheckpointManager(checkpoint, arguments.directory, max_to_keep=3)
if manager.restore_or_initialize() and worker == 0:
    print(f"Go on from step {int(step)}")

while int(step) < arguments.steps:
    loss = train_step(next(batches))
    if int(step) % arguments.save_every == 0:
        manager.save()
        if worker == 0:
            print(f"Step {int(step)}, loss: {loss:.4f}, accuracy: {accuracy.result() * 100:.2f}")
        accuracy.reset_state()
