"""Train MobileNetV2 on cats and dogs three ways, and compare: a table, and a chart.

    python examples/cats_vs_dogs.py --devices 2               # small drawings, or photos that are there
    python examples/cats_vs_dogs.py --devices 4 --download    # the photos, on accelerators

The ways are those of a handbook of TensorFlow: no strategy; N devices that share the same batch; N devices with
the batch each. TensorFlow Datasets reads the pictures. Its photos (800 MB) are downloaded on demand, and
prepared with TensorFlow (`pip install tensorflow`); drawings are made here otherwise. On a processor most of
the time goes into compiling the model, once for each way.
"""

import argparse
import contextlib
import os
import time
from pathlib import Path
from typing import Any

import matplotlib
import tensorflow_datasets as tfds
from _cats_vs_dogs import DATA, generate
from absl import logging
from rich.console import Console
from rich.table import Table

from frontends import tf  # was: import tensorflow as tf

HERE = Path(__file__).parent
console = Console()


def find_devices(count):
    """Names the devices of the strategy: simulated on the CPU where there is no accelerator."""
    accelerated = tf.config.list_physical_devices("GPU") + tf.config.list_physical_devices("TPU")
    if not accelerated:
        cpu = tf.config.list_physical_devices("CPU")[0]
        tf.config.set_logical_device_configuration(
            cpu, [tf.config.LogicalDeviceConfiguration()] * count
        )
    kind = accelerated[0].device_type if accelerated else "CPU"
    note = "" if accelerated else " (simulated: they share the processors, so more are not faster)"
    console.print(f"Devices: {count} x {kind}{note}")
    return [f"{kind}:{i}" for i in range(count)]


def load(arguments):
    """Loads the photos if they are there or shall be downloaded, and else makes drawings."""
    data_dir = arguments.data_dir
    if arguments.generated:
        data_dir = generate(DATA, arguments.images)
    dataset: Any = tfds.load(
        "cats_vs_dogs",
        split="train",
        as_supervised=True,
        data_dir=data_dir,
        download=arguments.download,
    )
    what = "drawings, made here" if arguments.generated else "photos"
    console.print(
        f"Pictures: {len(dataset):,} {what}, scaled to {arguments.size} x {arguments.size}; "
        f"MobileNetV2 of width {arguments.alpha}"
    )
    return dataset


def train(dataset, strategy, batch_size, arguments):
    """Trains a new model; gives what the table shows of it."""

    def resize(image, label):
        image = tf.image.resize(image, [arguments.size, arguments.size]) / 255.0
        return image, label

    batches = dataset.map(resize).shuffle(1024).batch(batch_size)
    tf.keras.utils.set_random_seed(0)
    with contextlib.nullcontext() if strategy is None else strategy.scope():
        model = tf.keras.applications.MobileNetV2(
            input_shape=(arguments.size, arguments.size, 3),
            alpha=arguments.alpha,
            weights=None,
            classes=2,
        )
        model.compile(
            optimizer=tf.keras.optimizers.Adam(learning_rate=0.001),
            loss=tf.keras.losses.sparse_categorical_crossentropy,
            metrics=[tf.keras.metrics.sparse_categorical_accuracy],
        )
    start = time.perf_counter()
    model.fit(batches.take(1), verbose=0)
    compiled = time.perf_counter()
    history = model.fit(batches, epochs=arguments.epochs, verbose=0).history
    seconds = (time.perf_counter() - compiled) / arguments.epochs
    return {
        "batch": batch_size,
        "compile": compiled - start,
        "seconds": seconds,
        "rate": len(dataset) / seconds,
        "loss": history["loss"],
        "accuracy": history["sparse_categorical_accuracy"][-1],
    }


def main(arguments):
    """Trains each way, and shows the results."""
    names = find_devices(arguments.devices)
    dataset = load(arguments)
    count, batch = arguments.devices, arguments.batch_size
    ways = [
        ("no strategy", None, batch),
        (f"{count} devices, same batch", names, batch),
        (f"{count} devices, {count} x batch", names, count * batch),
    ]
    results = {}
    for name, devices, batch_size in ways:
        with console.status(f"{name}, batches of {batch_size}: compiling, then training"):
            strategy = None if devices is None else tf.distribute.MirroredStrategy(devices)
            results[name] = train(dataset, strategy, batch_size, arguments)
        console.print(f"{name}: {results[name]['seconds']:.1f} s an epoch")
    console.print(table_of(results, arguments.epochs))
    path = draw(arguments.output, results)
    console.print(f"Chart: {os.path.relpath(path)}", soft_wrap=True)


def table_of(results, epochs):
    """Makes the table; times are those of epochs after the step was compiled."""
    table = Table(title=f"MobileNetV2, {epochs} epoch{'s' if epochs > 1 else ''}")
    table.add_column("", no_wrap=True)
    for column in ("batch", "compile", "epoch", "images/s", "speed", "loss", "accuracy"):
        table.add_column(column, justify="right")
    base = next(iter(results.values()))["rate"]
    for name, result in results.items():
        table.add_row(
            name,
            f"{result['batch']}",
            f"{result['compile']:.0f} s",
            f"{result['seconds']:.1f} s",
            f"{result['rate']:,.0f}",
            f"{result['rate'] / base:.2f} x",
            f"{result['loss'][-1]:.3f}",
            f"{result['accuracy']:.3f}",
        )
    return table


def draw(directory, results):
    """Saves a chart of the times and of the losses."""
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(13, 3.6), layout="constrained")
    colors = ["#8a8a8a", "#4c8bc9", "#1f4e8c"]
    bars = left.barh(
        list(results), [result["seconds"] for result in results.values()], color=colors
    )
    left.bar_label(
        bars, [f"{result['rate']:,.0f} images/s" for result in results.values()], padding=4
    )
    left.invert_yaxis()
    left.margins(x=0.3)
    left.set(title="Time of an epoch", xlabel="seconds")
    for (name, result), color in zip(results.items(), colors, strict=True):
        epochs = range(1, len(result["loss"]) + 1)
        right.plot(epochs, result["loss"], color=color, marker="o", label=name)
    right.set(title="Training loss", xlabel="epoch", ylabel="cross-entropy", xticks=list(epochs))
    right.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "cats_vs_dogs.png"
    figure.savefig(path, dpi=120)
    return path


def parse(argv=None):
    """Reads the command line; drawings are small, so that a processor is enough for them."""
    parser = argparse.ArgumentParser(description="Train MobileNetV2 on cats and dogs, three ways.")
    parser.add_argument("--devices", type=int, default=2, help="how many devices (default: 2)")
    parser.add_argument("--epochs", type=int, default=3, help="passes (default: 3)")
    parser.add_argument("--generated", action="store_true", help="drawings, even if photos exist")
    parser.add_argument("--download", action="store_true", help="download the photos, if need be")
    parser.add_argument("--data-dir", type=Path, help="where TensorFlow Datasets keeps its data")
    parser.add_argument("--images", type=int, default=256, help="how many drawings (default: 256)")
    parser.add_argument("--size", type=int, help="of a side (default: 224; 48 for drawings)")
    parser.add_argument("--alpha", type=float, help="width (default: 1.0; 0.35 for drawings)")
    parser.add_argument("--batch-size", type=int, help="default: 64; 16 for drawings")
    parser.add_argument("--output", type=Path, default=HERE / "output", help="where the chart goes")
    arguments = parser.parse_args(argv)
    logging.set_verbosity(logging.ERROR)  # TFDS warns of what it does not find
    if arguments.devices < 2:
        parser.error("--devices must be 2 or more: one device is the first of the three ways")
    if not (arguments.download or arguments.generated):
        prepared = tfds.builder("cats_vs_dogs", data_dir=arguments.data_dir).is_prepared()
        arguments.generated = not prepared
    small = arguments.generated
    arguments.size = arguments.size or (48 if small else 224)
    arguments.alpha = arguments.alpha or (0.35 if small else 1.0)
    arguments.batch_size = arguments.batch_size or (16 if small else 64)
    return arguments


if __name__ == "__main__":
    main(parse())
