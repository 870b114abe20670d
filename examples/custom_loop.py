"""A TensorFlow script, its import line changed: Keras, a tape, a custom loop over a strategy.

    python examples/custom_loop.py --devices 2

It follows TensorFlow's tutorial "Custom training with tf.distribute.Strategy". With
`import tensorflow as tf` in the place of the marked line it runs on TensorFlow too (and `TF_USE_LEGACY_KERAS=1`
set, for Keras 3 has no such loop there on several processors).
"""

import argparse

import numpy as np
from _devices import HELP, mirrored_strategy
from _digits import load

from frontends import tf  # was: import tensorflow as tf

parser = argparse.ArgumentParser(description="Train Keras on MNIST with a TensorFlow script.")
parser.add_argument("--devices", type=int, help=HELP)
parser.add_argument("--epochs", type=int, default=4, help="passes over the digits (default: 4)")
arguments = parser.parse_args()

strategy = mirrored_strategy(arguments.devices)

GLOBAL_BATCH_SIZE = 64
tf.keras.utils.set_random_seed(0)


def dataset_of(split):
    images, labels = load(split)
    images = (images / 255.0).astype(np.float32)
    dataset = tf.data.Dataset.from_tensor_slices((images, labels))
    if split == "train":
        dataset = dataset.shuffle(len(labels))
    return strategy.experimental_distribute_dataset(dataset.batch(GLOBAL_BATCH_SIZE))


train_batches, test_batches = dataset_of("train"), dataset_of("test")

with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Conv2D(32, 3, activation="relu"),
            tf.keras.layers.MaxPooling2D(),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(
                64, activation="relu", kernel_regularizer=tf.keras.regularizers.L2(1e-4)
            ),
            tf.keras.layers.Dropout(0.2),
            tf.keras.layers.Dense(10),
        ]
    )
    optimizer = tf.keras.optimizers.Adam()
    cross_entropy = tf.keras.losses.SparseCategoricalCrossentropy(
        from_logits=True, reduction=tf.keras.losses.Reduction.NONE
    )
    train_accuracy = tf.keras.metrics.SparseCategoricalAccuracy(name="train_accuracy")
    test_accuracy = tf.keras.metrics.SparseCategoricalAccuracy(name="test_accuracy")


def train_step(inputs):
    images, labels = inputs
    with tf.GradientTape() as tape:
        predictions = model(images, training=True)
        loss = tf.nn.compute_average_loss(
            cross_entropy(labels, predictions), global_batch_size=GLOBAL_BATCH_SIZE
        )
        loss += tf.nn.scale_regularization_loss(tf.add_n(model.losses))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    train_accuracy.update_state(labels, predictions)
    return loss


def test_step(inputs):
    images, labels = inputs
    test_accuracy.update_state(labels, model(images, training=False))


@tf.function
def distributed_train_step(inputs):
    per_replica_losses = strategy.run(train_step, args=(inputs,))
    return strategy.reduce(tf.distribute.ReduceOp.SUM, per_replica_losses, axis=None)


@tf.function
def distributed_test_step(inputs):
    strategy.run(test_step, args=(inputs,))


for epoch in range(arguments.epochs):
    total_loss, num_batches = 0.0, 0
    for batch in train_batches:
        total_loss += distributed_train_step(batch)
        num_batches += 1
    for batch in test_batches:
        distributed_test_step(batch)
    print(
        f"Epoch {epoch + 1}, loss: {total_loss / num_batches:.4f}, "
        f"accuracy: {train_accuracy.result() * 100:.2f}, "
        f"test accuracy: {test_accuracy.result() * 100:.2f}"
    )
    train_accuracy.reset_states()
    test_accuracy.reset_states()
