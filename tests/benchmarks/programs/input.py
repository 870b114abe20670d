"""Input alone, onto devices: digits, pictures, lines whose words get indices, examples, and texts that a table knows."""

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
EXAMPLES, FLOATS, IDS = 50_000, 16, 8
SMALL_PICTURES = 10_000
TEXTS = 50_000


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
    dataset = dataset.batch(PICTURES_OF_A_BATCH)
    return _over(tf, strategy, dataset, lambda batch: batch[0], -(-PICTURES // PICTURES_OF_A_BATCH))


def lines(tf: Any, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """Lines of a file, as models of text are trained on: shuffled, batched, and split into words with indices."""
    strategy = tf.distribute.MirroredStrategy([f"CPU:{index}" for index in range(devices)])
    file = _beside(path, "lines")
    _write_lines(file)
    vectorize = tf.keras.layers.TextVectorization(max_tokens=5_000, output_sequence_length=40)
    vectorize.adapt(tf.data.TextLineDataset(file).batch(BATCH))
    dataset = tf.data.TextLineDataset(file).shuffle(LINES).batch(BATCH)
    dataset = dataset.map(vectorize, num_parallel_calls=tf.data.AUTOTUNE)
    return _over(tf, strategy, dataset, lambda batch: batch, -(-LINES // BATCH))


def augmentation(tf: Any, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """Small pictures in memory, changed at random as for CIFAR: padded, cropped, flipped, brighter and of another contrast."""
    strategy = tf.distribute.MirroredStrategy([f"CPU:{index}" for index in range(devices)])
    random = np.random.RandomState(0)
    images = random.randint(0, 256, (SMALL_PICTURES, 32, 32, 3)).astype(np.uint8)
    labels = np.arange(SMALL_PICTURES, dtype=np.int32) % 10

    def augment(image: Any, label: Any) -> tuple[Any, Any]:
        image = tf.image.convert_image_dtype(image, tf.float32)
        image = tf.image.resize_with_crop_or_pad(image, 40, 40)
        image = tf.image.random_flip_left_right(tf.image.random_crop(image, [32, 32, 3]))
        image = tf.image.random_contrast(tf.image.random_brightness(image, 0.2), 0.8, 1.2)
        return tf.clip_by_value(image, 0.0, 1.0), label

    dataset = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(SMALL_PICTURES)
    dataset = dataset.map(augment, num_parallel_calls=tf.data.AUTOTUNE).batch(BATCH)
    return _over(tf, strategy, dataset, lambda batch: batch[1], -(-SMALL_PICTURES // BATCH))


def examples(tf: Any, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """Records of examples with numbers, ids and a text, parsed in batches."""
    strategy = tf.distribute.MirroredStrategy([f"CPU:{index}" for index in range(devices)])
    file = _beside(path, "examples")
    _write_examples(tf, file)
    spec = {
        "numbers": tf.io.FixedLenFeature([FLOATS], tf.float32),
        "ids": tf.io.FixedLenFeature([IDS], tf.int64),
        "label": tf.io.FixedLenFeature([], tf.int64),
        "name": tf.io.FixedLenFeature([], tf.string),
    }

    def parse(records: Any) -> tuple[Any, Any, Any]:
        parsed = tf.io.parse_example(records, spec)
        ids = tf.cast(parsed["ids"], tf.int32)
        hashed = tf.strings.to_hash_bucket_fast(parsed["name"], 1000)
        return parsed["numbers"], ids, tf.cast(hashed, tf.int32)

    dataset = tf.data.TFRecordDataset(file).shuffle(10_000).batch(BATCH)
    dataset = dataset.map(parse, num_parallel_calls=tf.data.AUTOTUNE)
    return _over(tf, strategy, dataset, lambda batch: batch[2], -(-EXAMPLES // BATCH))


def records(tf: Any, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """Records of digits as raw bytes, parsed one by one."""
    strategy = tf.distribute.MirroredStrategy([f"CPU:{index}" for index in range(devices)])
    images, labels = digits.load(path, BATCH * STEPS)
    file = _beside(path, "records")
    with tf.io.TFRecordWriter(file) as writer:
        for image, label in zip(images, labels, strict=True):
            features = {"image": _texts(tf, image.tobytes()), "label": _integers(tf, int(label))}
            writer.write(_example(tf, features))
    spec = {
        "image": tf.io.FixedLenFeature([], tf.string),
        "label": tf.io.FixedLenFeature([], tf.int64),
    }

    def load(record: Any) -> tuple[Any, Any]:
        parsed = tf.io.parse_single_example(record, spec)
        image = tf.reshape(tf.io.decode_raw(parsed["image"], tf.uint8), [28, 28, 1])
        return tf.cast(image, tf.float32) / 255.0, tf.cast(parsed["label"], tf.int32)

    dataset = tf.data.TFRecordDataset(file).map(load, num_parallel_calls=tf.data.AUTOTUNE)
    dataset = dataset.shuffle(10_000).batch(BATCH)
    return _over(tf, strategy, dataset, lambda batch: batch[0], STEPS)


def table(tf: Any, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """Texts that are cleaned one by one, and get the index that a table has for them."""
    strategy = tf.distribute.MirroredStrategy([f"CPU:{index}" for index in range(devices)])
    random = np.random.RandomState(0)
    names = [f"name {number}" for number in range(1_000)]
    texts = [f"  {names[number].upper()}. " for number in random.randint(0, 1_000, TEXTS)]
    initializer = tf.lookup.KeyValueTensorInitializer(
        tf.constant(names), tf.constant(np.arange(1_000, dtype=np.int64))
    )
    known = tf.lookup.StaticHashTable(initializer, -1)

    def index(text: Any) -> Any:
        clean = tf.strings.lower(tf.strings.strip(text))
        return tf.cast(known.lookup(tf.strings.regex_replace(clean, "[.!?]", "")), tf.int32)

    dataset = tf.data.Dataset.from_tensor_slices(texts).shuffle(10_000)
    dataset = dataset.map(index, num_parallel_calls=tf.data.AUTOTUNE).batch(BATCH)
    return _over(tf, strategy, dataset, lambda batch: batch, -(-TEXTS // BATCH))


def _over(
    tf: Any, strategy: Any, dataset: Any, counted: Callable[[Any], Any], batches_of_a_pass: int
) -> tuple[Ready, Callable[[], None]]:
    """Makes a turn a pass over a dataset.

    Args:
        tf: The front end.
        strategy: What to distribute it with.
        dataset: Batches, before they are made ahead.
        counted: Picks of a batch what both programs have in common.
        batches_of_a_pass: How many there are.
    """
    batches = strategy.experimental_distribute_dataset(dataset.prefetch(tf.data.AUTOTUNE))

    def turn() -> None:
        for batch in batches:
            last = batch
        np.asarray(strategy.experimental_local_results(counted(last))[0])

    total = sum(
        float(np.abs(np.asarray(part, np.float64)).sum())
        for batch in batches
        for part in strategy.experimental_local_results(counted(batch))
    )
    return Ready(batches_of_a_pass, total), turn


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
            features = {"image": _texts(tf, jpeg.numpy()), "label": _integers(tf, number % 10)}
            writer.write(_example(tf, features))


def _write_examples(tf: Any, file: str) -> None:
    """Writes examples as recommenders have them."""
    random = np.random.RandomState(0)
    with tf.io.TFRecordWriter(file) as writer:
        for number in range(EXAMPLES):
            floats = tf.train.FloatList(value=random.rand(FLOATS))
            features = {
                "numbers": tf.train.Feature(float_list=floats),
                "ids": _integers(tf, *random.randint(0, 100_000, IDS).tolist()),
                "label": _integers(tf, number % 2),
                "name": _texts(tf, b"user %d" % random.randint(100_000)),
            }
            writer.write(_example(tf, features))


def _texts(tf: Any, *values: bytes) -> Any:
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))


def _integers(tf: Any, *values: int) -> Any:
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def _example(tf: Any, features: dict[str, Any]) -> bytes:
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()
