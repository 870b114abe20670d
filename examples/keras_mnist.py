"""TensorFlow's tutorial "Distributed training with Keras", its import line changed: fit, callbacks, export.

    python examples/keras_mnist.py --devices 2

The digits come with the repository, read by `tfds.load`. With `import tensorflow as tf` in the place of the
marked line it runs on TensorFlow too, up to the export: TensorFlow has dropped the names for it that the
tutorial uses. It needs `TF_USE_LEGACY_KERAS=1` there, for Keras 3 has no such checkpoints, and MNIST as TFDS
downloads it, `data_dir=None, download=True`, for TensorFlow does not read the files that come with us.
"""

import argparse
import os
import sys
from pathlib import Path
from typing import Any

import tensorflow_datasets as tfds
from _devices import HELP, mirrored_strategy
from _digits import DATA
from absl import logging

from frontends import tf  # was: import tensorflow as tf

parser = argparse.ArgumentParser(description="Train Keras on MNIST with model.fit.")
parser.add_argument("--devices", type=int, help=HELP)
parser.add_argument("--epochs", type=int, default=12, help="passes over the digits (default: 12)")
parser.add_argument(
    "--output",
    type=Path,
    default=Path(__file__).parent / "output" / "keras_mnist",
    help="where checkpoints, logs and the exported model go",
)
arguments = parser.parse_args()
logging.set_verbosity(logging.ERROR)  # TFDS warns that OpenCV would decode faster

strategy = mirrored_strategy(arguments.devices)
tf.keras.utils.set_random_seed(0)

# Data

loaded: Any = tfds.load(
    name="mnist", with_info=True, as_supervised=True, data_dir=DATA, download=False
)
datasets, ds_info = loaded
mnist_train, mnist_test = datasets["train"], datasets["test"]
num_train_examples = ds_info.splits["train"].num_examples
num_test_examples = ds_info.splits["test"].num_examples
print(f"Digits: {num_train_examples:,} to train on, {num_test_examples:,} to test on")

BUFFER_SIZE = 10_000
BATCH_SIZE_PER_REPLICA = 32
BATCH_SIZE = BATCH_SIZE_PER_REPLICA * strategy.num_replicas_in_sync


def scale(image, label):
    image = tf.cast(image, tf.float32)
    image /= 255
    return image, label


train_dataset = mnist_train.map(scale).shuffle(BUFFER_SIZE).batch(BATCH_SIZE)
eval_dataset = mnist_test.map(scale).batch(BATCH_SIZE)

# Model


def compile_model(model):
    model.compile(
        loss="sparse_categorical_crossentropy",
        optimizer=tf.keras.optimizers.Adam(),
        metrics=["accuracy"],
    )


with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Conv2D(32, 3, activation="relu", input_shape=(28, 28, 1)),
            tf.keras.layers.MaxPooling2D(),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(64, activation="relu"),
            tf.keras.layers.Dense(10, activation="softmax"),
        ]
    )
    compile_model(model)

# Callbacks

checkpoint_dir = arguments.output / "training_checkpoints"
checkpoint_prefix = os.path.join(checkpoint_dir, "ckpt_{epoch}")
log_dir = arguments.output / "logs"


def decay(epoch):
    if epoch < 6:
        return 1e-3
    elif epoch < 10:
        return 1e-4
    else:
        return 1e-5


class PrintLR(tf.keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        rate = tf.keras.backend.get_value(model.optimizer.lr)
        print(f"Learning rate for epoch {epoch + 1} is {rate:.0e}")


callbacks = [
    tf.keras.callbacks.TensorBoard(log_dir=str(log_dir)),
    tf.keras.callbacks.ModelCheckpoint(filepath=checkpoint_prefix, save_weights_only=True),
    tf.keras.callbacks.LearningRateScheduler(decay),
    PrintLR(),
]

# Train and evaluate

verbose = 1 if sys.stdout.isatty() else 2
model.fit(train_dataset, epochs=arguments.epochs, callbacks=callbacks, verbose=verbose)
print(f"Checkpoints: {len(list(checkpoint_dir.iterdir()))} files in {checkpoint_dir}")

model.load_weights(tf.train.latest_checkpoint(str(checkpoint_dir)))
eval_loss, eval_acc = model.evaluate(eval_dataset, verbose=0)
print(f"Eval loss: {eval_loss:.4f}, eval accuracy: {eval_acc:.4f}")
print(f"Curves: tensorboard --logdir={log_dir}")

# Export, and load without the strategy

path = str(arguments.output / "saved_model")
tf.keras.experimental.export_saved_model(model, path)
unreplicated_model = tf.keras.experimental.load_from_saved_model(path)
compile_model(unreplicated_model)
eval_loss, eval_acc = unreplicated_model.evaluate(eval_dataset, verbose=0)
print(f"After export, on one device: eval loss: {eval_loss:.4f}, eval accuracy: {eval_acc:.4f}")
