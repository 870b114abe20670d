"""Trains for some steps of an epoch from the last checkpoint on, and prints the rows that each step saw.

python count.py DIRECTORY STEPS
"""

import sys

import numpy as np

from frontends import tf

directory, steps = sys.argv[1], int(sys.argv[2])
strategy = tf.distribute.MultiWorkerMirroredStrategy()
tf.random.set_seed(5)
rows = np.arange(100, dtype=np.int32)
dataset = tf.data.Dataset.from_tensor_slices((rows, np.sin(rows).astype(np.float32)))
dataset = strategy.experimental_distribute_dataset(dataset.shuffle(100).batch(12))
with strategy.scope():
    weight = tf.Variable(0.5)
    optimizer = tf.keras.optimizers.Adam(0.1)
    optimizer.build([weight])


@tf.function
def train(batch):
    def of_replica(batch):
        row, x = batch
        with tf.GradientTape() as tape:
            loss = tf.nn.compute_average_loss((weight * x - 2.0) ** 2)
        optimizer.apply_gradients([(tape.gradient(loss, weight), weight)])
        return row

    return strategy.run(of_replica, args=(batch,))


checkpoint = tf.train.Checkpoint(weight=weight, optimizer=optimizer, dataset=dataset)
manager = tf.train.CheckpointManager(checkpoint, directory, max_to_keep=1)
manager.restore_or_initialize()
for _, batch in zip(range(steps), dataset, strict=False):
    print("rows", *map(int, strategy.gather(train(batch), axis=0)))
    manager.save()
print("weight", float(weight))
