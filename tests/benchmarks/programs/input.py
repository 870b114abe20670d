"""Input alone: digits are scaled, shuffled, batched, and put on a device; pictures are decoded and resized before."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmarks.programs import digits
from tests.benchmarks.turns import Ready

BATCH, STEPS = 128, 200
PICTURES, PICTURES_OF_A_BATCH = 600, 32


def mnist(tf: Any, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """The pipeline of TensorFlow's tutorial."""
    strategy = tf.distribute.MirroredStrategy(["CPU:0"])
    images, labels = digits.load(path, BATCH * STEPS)

    def scale(image: Any, label: Any) -> tuple[Any, Any]:
        return tf.cast(image, tf.float32) / 255, label

    dataset = tf.data.Dataset.from_tensor_slices((images, labels))
    dataset = dataset.map(scale, num_parallel_calls=tf.data.AUTOTUNE).shuffle(10_000)
    batches = strategy.experimental_distribute_dataset(
        dataset.batch(BATCH).prefetch(tf.data.AUTOTUNE)
    )

    def turn() -> None:
        for image, _ in batches:
            last = image
        np.asarray(strategy.experimental_local_results(last)[0])

    turn()
    total = 0.0
    for image, _ in batches:
        total += float(np.sum(strategy.experimental_local_results(image)[0]))
    return Ready(STEPS, total), turn


def pictures(tf: Any, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """Records of JPEGs, as image models are trained on: decoded, resized, flipped at random and scaled."""
    strategy = tf.distribute.MirroredStrategy([f"CPU:{index}" for index in range(devices)])
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "pictures.tfrecord")
        _write_pictures(tf, file)
        records = [bytes(each.numpy()) for each in tf.data.TFRecordDataset(file)]

    def load(record: Any) -> tuple[Any, Any]:
        spec = {
            "image": tf.io.FixedLenFeature([], tf.string),
            "label": tf.io.FixedLenFeature([], tf.int64),
        }
        parsed = tf.io.parse_single_example(record, spec)
        image = tf.image.resize(tf.io.decode_jpeg(parsed["image"], channels=3), [224, 224])
        return tf.image.random_flip_left_right(image) / 127.5 - 1.0, parsed["label"]

    dataset = tf.data.Dataset.from_tensor_slices(records).shuffle(PICTURES)
    dataset = dataset.map(load, num_parallel_calls=tf.data.AUTOTUNE)
    batches = strategy.experimental_distribute_dataset(
        dataset.batch(PICTURES_OF_A_BATCH).prefetch(tf.data.AUTOTUNE)
    )

    def turn() -> None:
        for image, _ in batches:
            last = image
        np.asarray(strategy.experimental_local_results(last)[0])

    total = sum(
        float((np.asarray(part) + 1.0).sum())
        for image, _ in batches
        for part in strategy.experimental_local_results(image)
    )
    return Ready(-(-PICTURES // PICTURES_OF_A_BATCH), total), turn


def _write_pictures(tf: Any, file: str) -> None:
    """Writes pictures of 250 x 300 pixels, as rough as photos are."""
    random = np.random.RandomState(0)
    with tf.io.TFRecordWriter(file) as writer:
        for number in range(PICTURES):
            coarse = random.randint(0, 256, (26, 31, 3)).repeat(10, 0).repeat(10, 1)
            smooth = sum(
                coarse[top : top + 250, left : left + 300]
                for top in (0, 5, 9)
                for left in (0, 5, 9)
            )
            pixels = np.clip(smooth // 9 + random.randint(-8, 9, (250, 300, 3)), 0, 255)
            jpeg = tf.io.encode_jpeg(pixels.astype(np.uint8), quality=90)
            features = {
                "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[jpeg.numpy()])),
                "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[number % 10])),
            }
            example = tf.train.Example(features=tf.train.Features(feature=features))
            writer.write(example.SerializeToString())
