"""Train a convolutional network on MNIST digits over several devices, with TensorFlow's Strategy API.

    python examples/mnist.py --devices 2          # 6,000 digits that come with the repository
    python examples/mnist.py --devices 2 --full   # all 60,000, downloaded by TensorFlow Datasets

The model is Flax NNX, the optimizer Optax. Each training step, over all devices, is one XLA program.
"""

import argparse
import os
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import optax
from _devices import HELP, mirrored_strategy
from _digits import DATA, load
from flax import nnx
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

import spmd
from frontends import tf

HERE = Path(__file__).parent
console = Console()


class ConvNet(nnx.Module):
    """The network of TensorFlow's distributed training tutorial."""

    def __init__(self, rngs: nnx.Rngs):
        self.conv = nnx.Conv(1, 32, (3, 3), padding="VALID", rngs=rngs)
        self.dense = nnx.Linear(13 * 13 * 32, 64, rngs=rngs)
        self.dropout = nnx.Dropout(0.2, rngs=rngs)
        self.logits = nnx.Linear(64, 10, rngs=rngs)

    def __call__(self, images, training=False):
        x = nnx.relu(self.conv(images))
        x = nnx.max_pool(x, (2, 2), (2, 2))
        x = nnx.relu(self.dense(x.reshape(x.shape[0], -1)))
        return self.logits(self.dropout(x, deterministic=not training))


def scale(image, label):
    """Maps pixels from 0..255 to 0..1."""
    return image.astype(jnp.float32) / 255, label.astype(jnp.int32)


def shift(key, images):
    """Moves every image by up to two pixels, at random: more digits out of few."""
    padded = jnp.pad(images, ((0, 0), (2, 2), (2, 2), (0, 0)))
    offsets = jax.random.randint(key, (len(images), 2), 0, 5)

    def crop(image, offset):
        return jax.lax.dynamic_slice(image, (*offset, 0), (28, 28, 1))

    return jax.vmap(crop)(padded, offsets)


def main(arguments):
    """Trains, tests, and draws."""
    strategy = mirrored_strategy(arguments.devices)
    data_dir = arguments.data_dir or (None if arguments.full else DATA)
    train_images, train_labels = load("train", data_dir, arguments.full)
    test_images, test_labels = load("test", data_dir, arguments.full)
    console.print(f"Digits: {len(train_labels):,} to train on, {len(test_labels):,} to test on")

    tf.random.set_seed(arguments.seed)
    train_dataset = (
        tf.data.Dataset.from_tensor_slices((train_images, train_labels))
        .shuffle(len(train_labels))
        .map(scale)
        .batch(arguments.batch_size)
    )
    test_dataset = (
        tf.data.Dataset.from_tensor_slices((test_images, test_labels))
        .map(scale)
        .batch(arguments.batch_size)
    )
    train_batches = strategy.experimental_distribute_dataset(train_dataset)
    test_batches = strategy.experimental_distribute_dataset(test_dataset)

    with strategy.scope():
        model = ConvNet(nnx.Rngs(arguments.seed))
        decay = optax.cosine_decay_schedule(2e-3, arguments.epochs * len(train_batches))
        optimizer = nnx.Optimizer(model, optax.adam(decay), wrt=nnx.Param)
        rngs = nnx.Rngs(shift=arguments.seed)  # every replica draws from a stream of its own
        accuracy = nnx.metrics.Accuracy()

    def train_step(batch):
        images, labels = batch
        images = shift(rngs.shift(), images)

        def loss_fn(model):
            logits = model(images, training=True)
            losses = optax.softmax_cross_entropy_with_integer_labels(logits, labels)
            return tf.nn.compute_average_loss(losses), logits

        (loss, logits), gradients = nnx.value_and_grad(loss_fn, has_aux=True)(model)
        optimizer.update(model, gradients)  # sums the gradients over the replicas
        accuracy.update(logits=logits, labels=labels, mask=spmd.valid_rows())
        return loss

    @tf.function
    def train(batch):
        losses = strategy.run(train_step, args=(batch,))
        return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)

    @tf.function
    def predict(batch):
        return strategy.run(lambda batch: model(batch[0]).argmax(axis=-1), args=(batch,))

    losses, rates = [], []
    start = time.perf_counter()
    with Progress(
        TextColumn("[bold]epoch {task.fields[epoch]}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("loss {task.fields[loss]}  accuracy {task.fields[accuracy]}"),
        TextColumn("{task.fields[rate]} images/s"),
        TimeElapsedColumn(),
        console=console,
    ) as progress:
        for epoch in range(1, arguments.epochs + 1):
            name = f"{epoch}/{arguments.epochs}"
            task = progress.add_task(
                "train", total=len(train_batches), epoch=name, loss="-", accuracy="-", rate="-"
            )
            accuracy.reset()
            epoch_start, seen = time.perf_counter(), 0
            for step, batch in enumerate(train_batches, start=1):
                losses.append(train(batch))
                seen += sum(batch[0].mask.counts)
                if step % 10 == 0 or step == len(train_batches):
                    # Reading a value waits for the devices, so not at every step.
                    progress.update(
                        task,
                        completed=step,
                        loss=f"{losses[-1]:.3f}",
                        accuracy=f"{accuracy.compute():.3f}",
                        rate=f"{seen / (time.perf_counter() - epoch_start):,.0f}",
                    )
            rates.append(seen / (time.perf_counter() - epoch_start))
    compiled = train.experimental_get_tracing_count()
    console.print(
        f"Trained {len(losses):,} steps in {time.perf_counter() - start:.0f} s, "
        f"up to {max(rates):,.0f} images/s; the step was compiled "
        f"{'once' if compiled == 1 else f'{compiled} times'}"
    )

    predicted = np.concatenate([strategy.gather(predict(batch), axis=0) for batch in test_batches])
    test_accuracy = float((predicted == test_labels).mean())
    console.print(f"[bold green]Test accuracy: {test_accuracy:.4f}[/] on {len(predicted):,} digits")
    path = draw(arguments.output, np.array(losses), test_images, test_labels, predicted)
    console.print(f"Picture: {os.path.relpath(path)}", soft_wrap=True)
    return test_accuracy


def draw(directory, losses, images, labels, predicted):
    """Saves the loss curve, the confusion matrix and some digits with their predictions."""
    # Here, because its import takes long and training needs none of it.
    import matplotlib.pyplot as plt

    plt.switch_backend("Agg")

    figure = plt.figure(figsize=(12, 4.2), layout="constrained")
    parts = figure.subfigures(1, 3, width_ratios=[1.1, 1, 1], squeeze=False)
    left, middle, right = parts[0]

    axes = left.subplots()
    axes.plot(losses, color="#9db8d9", linewidth=0.8, label="batch")
    window = max(1, min(50, len(losses) // 4))
    smooth = np.convolve(losses, np.ones(window) / window, mode="valid")
    axes.plot(
        np.arange(window - 1, len(losses)), smooth, color="#1f4e8c", label=f"mean of {window}"
    )
    axes.set(title="Training loss", xlabel="step", ylabel="cross-entropy", yscale="log")
    axes.legend()

    matrix = np.zeros((10, 10), int)
    np.add.at(matrix, (labels, predicted), 1)
    axes = middle.subplots()
    axes.imshow(np.log1p(matrix), cmap="Blues")
    for (row, column), count in np.ndenumerate(matrix):
        if count:
            color = "white" if count > matrix.max() / 8 else "black"
            axes.text(column, row, count, ha="center", va="center", fontsize=7, color=color)
    accuracy = (labels == predicted).mean()
    axes.set(title=f"Test digits, accuracy {accuracy:.2%}", xlabel="predicted", ylabel="true")
    axes.set(xticks=range(10), yticks=range(10))

    # Mistakes first: they are what a reader wants to see.
    wrong = np.flatnonzero(labels != predicted)
    order = np.concatenate([wrong, np.flatnonzero(labels == predicted)])[:16]
    right.suptitle("Mistakes: true → predicted")
    for axes, index in zip(right.subplots(4, 4).flat, order, strict=False):
        axes.imshow(images[index].squeeze(-1), cmap="gray_r")
        color = "black" if labels[index] == predicted[index] else "#b00020"
        axes.set_title(f"{labels[index]} → {predicted[index]}", fontsize=8, color=color, pad=2)
        axes.axis("off")

    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "mnist.png"
    figure.savefig(path, dpi=120)
    return path


def parse(argv=None):
    """Reads the command line."""
    parser = argparse.ArgumentParser(description="Train on MNIST over several devices.")
    parser.add_argument("--devices", type=int, help=HELP)
    parser.add_argument(
        "--epochs", type=int, default=10, help="passes over the digits (default: 10)"
    )
    parser.add_argument("--batch-size", type=int, default=64, help="global batch (default: 64)")
    parser.add_argument("--seed", type=int, default=0, help="for weights, dropout and order")
    parser.add_argument(
        "--full", action="store_true", help="all of MNIST, from TensorFlow Datasets"
    )
    parser.add_argument("--data-dir", type=Path, help="where TensorFlow Datasets keeps its data")
    parser.add_argument(
        "--output", type=Path, default=HERE / "output", help="where the picture goes"
    )
    arguments = parser.parse_args(argv)
    if arguments.devices is not None and arguments.devices < 1:
        parser.error("--devices must be 1 or more")
    return arguments


if __name__ == "__main__":
    main(parse())
