"""Input alone: digits, pictures that are decoded and resized, and lines whose words get indices, onto devices."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmarks.programs import digits
from tests.benchmarks.turns import Ready

BATCH, STEPS = 128, 200
PICTURES, PICTURES_OF_A_BATCH = 600, 32
LINES, WORDS = 20_000, 8_000


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
    file = _beside(path, "pictures")
    _write_pictures(tf, file)

    def load(record: Any) -> tuple[Any, Any]:
        spec = {
            "image": tf.io.FixedLenFeature([], tf.string),
            "label": tf.io.FixedLenFeature([], tf.int64),
        }
        parsed = tf.io.parse_single_example(record, spec)
        image = tf.image.resize(tf.io.decode_jpeg(parsed["image"], channels=3), [224, 224])
        return tf.image.random_flip_left_right(image) / 127.5 - 1.0, parsed["label"]

    dataset = tf.data.TFRecordDataset(file).shuffle(PICTURES)
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


def lines(tf: Any, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """Lines of a file, as models of text are trained on: shuffled, batched, and split into words with indices."""
    strategy = tf.distribute.MirroredStrategy([f"CPU:{index}" for index in range(devices)])
    file = _beside(path, "lines")
    _write_lines(file)
    vectorize = tf.keras.layers.TextVectorization(max_tokens=5_000, output_sequence_length=40)
    vectorize.adapt(tf.data.TextLineDataset(file).batch(BATCH))
    dataset = tf.data.TextLineDataset(file).shuffle(LINES).batch(BATCH)
    dataset = dataset.map(vectorize, num_parallel_calls=tf.data.AUTOTUNE)
    batches = strategy.experimental_distribute_dataset(dataset.prefetch(tf.data.AUTOTUNE))

    def turn() -> None:
        for indices in batches:
            last = indices
        np.asarray(strategy.experimental_local_results(last)[0])

    total = sum(
        float(np.asarray(part).sum())
        for indices in batches
        for part in strategy.experimental_local_results(indices)
    )
    return Ready(-(-LINES // BATCH), total), turn


def _beside(path: str, name: str) -> str:
    """Names a file of this process in the folder of the digits, which whoever starts the programs deletes."""
    return str(Path(path).with_name(f"{name}-{os.getpid()}"))


def _write_lines(file: str) -> None:
    """Writes lines of 5 to 40 words, some of which are common, capital or end in a sign."""
    random = np.random.RandomState(0)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    words = ["".join(random.choice(letters, random.randint(2, 10))) for _ in range(WORDS)]
    with open(file, "w") as out:
        for _ in range(LINES):
            chosen = np.minimum(random.zipf(1.3, random.randint(5, 40)), WORDS) - 1
            line = [words[number] for number in chosen]
            line[0], line[-1] = line[0].capitalize(), line[-1] + "."
            out.write(" ".join(line) + "\n")


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
