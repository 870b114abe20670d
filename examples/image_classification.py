"""Train a small ResNet on pictures: TFRecords of JPEGs, decoded and augmented on the host, on several devices.

    python examples/image_classification.py                      # drawings of cats and dogs, made here
    python examples/image_classification.py --data-dir photos    # a folder of pictures for each class
    python examples/image_classification.py --data-dir photos --resnet50 --size 224

What reads records, decodes and augments is what TensorFlow's scripts say; TensorFlow is not needed.
"""

import argparse
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from _cats_vs_dogs import draw
from _devices import HELP, mirrored_strategy

from frontends import tf  # was: import tensorflow as tf

layers = tf.keras.layers
FEATURES = {
    "image": tf.io.FixedLenFeature([], tf.string),
    "label": tf.io.FixedLenFeature([], tf.int64),
}


def write_records(folder, count):
    """Draws pictures, and writes them as JPEGs: four of five into one TFRecord file, the others into another."""
    random = np.random.default_rng(0)
    train, rest = (str(folder / f"{name}.tfrecord") for name in ("train", "rest"))
    with tf.io.TFRecordWriter(train) as first, tf.io.TFRecordWriter(rest) as second:
        for number in range(count):
            label = number % 2
            jpeg = tf.io.encode_jpeg(np.asarray(draw(("cat", "dog")[label], random)), quality=90)
            features = {
                "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[jpeg.numpy()])),
                "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label])),
            }
            example = tf.train.Example(features=tf.train.Features(feature=features))
            (second if number % 5 == 4 else first).write(example.SerializeToString())
    return train, rest


def read_records(file, size, *, training):
    """Makes a dataset of the pictures in a TFRecord file."""

    def load(record):
        parsed = tf.io.parse_single_example(record, FEATURES)
        image = tf.io.decode_jpeg(parsed["image"], channels=3)
        image = tf.image.resize(image, [size, size])
        if training:
            image = tf.image.random_flip_left_right(image)
            image = tf.image.random_brightness(image, 20.0)
            image = tf.image.random_contrast(image, 0.8, 1.2)
        return image / 127.5 - 1.0, parsed["label"]

    records = tf.data.TFRecordDataset(file)
    # Files do not say how many records they have, and Keras warns if it finds out at the end.
    count = sum(1 for _ in records)
    dataset = records.apply(tf.data.experimental.assert_cardinality(count)).cache()
    if training:
        dataset = dataset.shuffle(1000)
    return dataset.map(load, num_parallel_calls=tf.data.AUTOTUNE)


def read_folders(arguments):
    """Makes datasets of the pictures in folders, a fifth of them for validation."""
    parts: Any = tf.keras.utils.image_dataset_from_directory(
        arguments.data_dir,
        image_size=(arguments.size, arguments.size),
        batch_size=None,
        validation_split=0.2,
        subset="both",
        seed=1,
    )
    names = parts[0].class_names
    augment = tf.keras.Sequential([layers.RandomFlip("horizontal"), layers.RandomZoom(0.1)])
    train = parts[0].map(lambda image, label: (augment(image[None], training=True)[0], label))
    scaled = (
        part.map(lambda image, label: (image / 127.5 - 1.0, label)) for part in (train, parts[1])
    )
    return *scaled, names


def block(x, filters, stride):
    """Adds a residual block: two convolutions, and the input beside them."""
    beside = x
    if stride > 1:
        beside = layers.Conv2D(filters, 1, strides=stride, use_bias=False)(x)
    x = layers.Conv2D(filters, 3, strides=stride, padding="same", use_bias=False)(x)
    x = layers.ReLU()(layers.BatchNormalization(momentum=0.8)(x))
    x = layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
    return layers.ReLU()(layers.add([layers.BatchNormalization(momentum=0.8)(x), beside]))


def small_resnet(size, classes):
    """Makes a residual network of three blocks."""
    inputs = tf.keras.Input((size, size, 3))
    x = layers.Conv2D(16, 3, strides=2, padding="same", activation="relu")(inputs)
    for filters, stride in ((16, 1), (32, 2), (64, 2)):
        x = block(x, filters, stride)
    x = layers.GlobalAveragePooling2D()(x)
    return tf.keras.Model(inputs, layers.Dense(classes, activation="softmax")(x))


def main(arguments):
    """Trains, and says how often the model is right about pictures that it has not seen."""
    strategy = mirrored_strategy(arguments.devices)
    tf.keras.utils.set_random_seed(1)
    with tempfile.TemporaryDirectory() as folder:
        if arguments.data_dir:
            train, rest, names = read_folders(arguments)
        else:
            files = write_records(Path(folder), arguments.images)
            names = ["cat", "dog"]
            train = read_records(files[0], arguments.size, training=True)
            rest = read_records(files[1], arguments.size, training=False)
        print(f"Pictures: {', '.join(names)}; scaled to {arguments.size} x {arguments.size}")
        train, rest = (
            part.batch(arguments.batch_size).prefetch(tf.data.AUTOTUNE) for part in (train, rest)
        )
        with strategy.scope():
            if arguments.resnet50:
                model = tf.keras.applications.ResNet50(
                    weights=None, input_shape=(arguments.size,) * 2 + (3,), classes=len(names)
                )
            else:
                model = small_resnet(arguments.size, len(names))
            model.compile(
                optimizer=tf.keras.optimizers.Adam(2e-4 if arguments.resnet50 else 2e-3),
                loss="sparse_categorical_crossentropy",
                metrics=["accuracy"],
            )
        model.fit(train, epochs=arguments.epochs, verbose=2)
        loss, accuracy = model.evaluate(rest, verbose=0)
    print(f"Pictures that it has not seen: loss {loss:.3f}, {accuracy:.0%} right")


def parse(argv=None):
    """Reads the command line."""
    parser = argparse.ArgumentParser(description="Train a small ResNet on pictures.")
    parser.add_argument("--devices", type=int, help=HELP)
    parser.add_argument("--data-dir", help="a folder with a folder of pictures for each class")
    parser.add_argument("--resnet50", action="store_true", help="ResNet50 of tf.keras.applications")
    parser.add_argument("--epochs", type=int, default=8, help="passes (default: 8)")
    parser.add_argument("--images", type=int, default=400, help="how many drawings (default: 400)")
    parser.add_argument("--size", type=int, default=48, help="of a side (default: 48)")
    parser.add_argument("--batch-size", type=int, default=32, help="of all devices (default: 32)")
    return parser.parse_args(argv)


if __name__ == "__main__":
    main(parse())
