"""Transfer learning with ResNet50: train a new head on a frozen base, then fine-tune the base's last layers.

    python examples/transfer_resnet.py --devices 2
    python examples/transfer_resnet.py --weights imagenet --size 224    # downloads the weights

It follows a tutorial of TensorFlow, its import line changed. By default the base has random weights, as
nothing is downloaded, and the pictures are small drawings; the normalization before the head makes
something of the outputs of a random base, which have any size.
"""

import argparse
import sys
from typing import Any

import numpy as np
import tensorflow_datasets as tfds
from _cats_vs_dogs import generate
from _devices import HELP, mirrored_strategy

from frontends import tf  # was: import tensorflow as tf

parser = argparse.ArgumentParser(description="Transfer learning with ResNet50 on cats and dogs.")
parser.add_argument("--devices", type=int, help=HELP)
parser.add_argument("--epochs", type=int, default=5, help="of each of two parts (default: 5)")
parser.add_argument("--weights", help="imagenet, or a file (default: random)")
parser.add_argument("--images", type=int, default=256, help="how many drawings (default: 256)")
parser.add_argument("--size", type=int, default=48, help="of a side (default: 48)")
arguments = parser.parse_args()

strategy = mirrored_strategy(arguments.devices)
tf.keras.utils.set_random_seed(0)

# Load and prepare the dataset
data_dir = generate(count=arguments.images)
loaded: Any = tfds.load("cats_vs_dogs", with_info=True, as_supervised=True, data_dir=data_dir)
dataset, info = loaded
train_dataset = dataset["train"]
print(f"Pictures: {info.splits['train'].num_examples} drawings of cats and dogs")


def preprocess(image, label):
    image = tf.image.resize(image, (arguments.size, arguments.size))
    image = tf.keras.applications.resnet50.preprocess_input(image)
    return image, label


batch_size = 16 * strategy.num_replicas_in_sync
train_dataset = train_dataset.map(preprocess).cache().shuffle(1000).batch(batch_size)

# Create the model within strategy scope
with strategy.scope():
    base_model = tf.keras.applications.ResNet50(
        weights=arguments.weights,
        include_top=False,
        input_shape=(arguments.size, arguments.size, 3),
    )
    base_model.trainable = False  # Freeze the base model

    model = tf.keras.Sequential(
        [
            base_model,
            tf.keras.layers.GlobalAveragePooling2D(),
            tf.keras.layers.BatchNormalization(momentum=0.8),
            tf.keras.layers.Dense(1, activation="sigmoid"),
        ]
    )

    model.compile(
        optimizer=tf.keras.optimizers.Adam(0.001),
        loss="binary_crossentropy",
        metrics=["accuracy"],
    )


def fit_and_compare(what):
    """Trains, and prints how well, and which layers of the base have other weights now."""
    print(what)
    before = [[np.array(weight) for weight in layer.weights] for layer in base_model.layers]
    verbose = 1 if sys.stdout.isatty() else 2
    history = model.fit(train_dataset, epochs=arguments.epochs, verbose=verbose).history
    changed = [
        layer.name
        for layer, old in zip(base_model.layers, before, strict=True)
        if any(np.any(np.array(new) != was) for new, was in zip(layer.weights, old, strict=True))
    ]
    print(f"Layers of the base that changed: {', '.join(changed) or 'none'}")
    return history["accuracy"]


accuracies = fit_and_compare("Frozen base")

# Fine-tune the model
with strategy.scope():
    # Unfreeze some layers
    base_model.trainable = True
    for layer in base_model.layers[:-10]:
        layer.trainable = False

    model.compile(
        optimizer=tf.keras.optimizers.Adam(0.0001),  # Lower learning rate
        loss="binary_crossentropy",
        metrics=["accuracy"],
    )

# Continue training
accuracies += fit_and_compare("Fine-tuning the last 10 layers of the base")
print(
    f"Training accuracy: {accuracies[0]:.3f} in the first epoch, {accuracies[-1]:.3f} in the last"
)
