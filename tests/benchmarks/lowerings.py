"""Operations rewritten for processors against XLA's own lowerings: `python -m tests.benchmarks.lowerings`.

The shapes are those of MNIST, MobileNetV2, ResNet50, EfficientNet, ResNeXt, DCGAN and others, and small ones where a rewrite could lose. A rule
in `spmd/lowering/cpu.py` that takes an operation with a ratio above 1.05 has the wrong threshold.
"""

import argparse
import gc
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import jaxpr_as_fun
from rich.console import Console
from rich.table import Table

from spmd.lowering import for_cpu, library_options, threads_of_device
from spmd.lowering.layouts import with_plain_layouts
from spmd.lowering.memory import keep_freed_memory
from spmd.lowering.products import direct_products

# Name, image, kernel, strides, padding, number of groups.
CONVOLUTIONS = [
    ("first layer, grey", (128, 28, 28, 1), (3, 3, 1, 32), 1, "VALID", 1),
    ("first layer, grey, 5x5", (64, 28, 28, 1), (5, 5, 1, 16), 1, "SAME", 1),
    ("first layer, grey, small", (4, 8, 8, 1), (3, 3, 1, 8), 1, "SAME", 1),
    ("first layer, colour", (16, 224, 224, 3), (3, 3, 3, 32), 2, "SAME", 1),
    ("first layer, CIFAR", (64, 32, 32, 3), (3, 3, 3, 32), 1, "SAME", 1),
    ("depthwise", (16, 56, 56, 144), (3, 3, 1, 144), 1, "SAME", 144),
    ("depthwise, strided", (16, 56, 56, 144), (3, 3, 1, 144), 2, "SAME", 144),
    ("depthwise, few pixels", (16, 7, 7, 960), (3, 3, 1, 960), 1, "SAME", 960),
    ("depthwise, 5x5", (16, 14, 14, 480), (5, 5, 1, 480), 1, "SAME", 480),
    ("depthwise, 7x7", (4, 28, 28, 96), (7, 7, 1, 96), 1, "SAME", 96),
    ("depthwise, few channels", (8, 32, 32, 3), (3, 3, 1, 3), 1, "SAME", 3),
    ("depthwise, doubled", (8, 28, 28, 32), (3, 3, 1, 64), 1, "SAME", 32),
    ("depthwise, small", (2, 8, 8, 4), (3, 3, 1, 4), 1, "SAME", 4),
    ("pointwise, expand", (16, 56, 56, 24), (1, 1, 24, 144), 1, "SAME", 1),
    ("pointwise, project", (16, 28, 28, 192), (1, 1, 192, 32), 1, "SAME", 1),
    ("pointwise, large", (16, 14, 14, 1024), (1, 1, 1024, 256), 1, "SAME", 1),
    ("pointwise, strided", (16, 28, 28, 512), (1, 1, 512, 256), 2, "SAME", 1),
    ("pointwise, few channels", (16, 32, 32, 3), (1, 1, 3, 8), 1, "SAME", 1),
    ("3x3, 64 features", (8, 56, 56, 64), (3, 3, 64, 64), 1, "SAME", 1),
    ("3x3, 32 features, DenseNet", (8, 24, 24, 128), (3, 3, 128, 32), 1, "SAME", 1),
    ("5x5, MNIST", (128, 14, 14, 32), (5, 5, 32, 64), 1, "SAME", 1),
    ("3x3, MNIST", (64, 26, 26, 32), (3, 3, 32, 64), 1, "VALID", 1),
    ("3x3, CIFAR", (64, 32, 32, 32), (3, 3, 32, 32), 1, "SAME", 1),
    ("3x3, ResNet", (32, 14, 14, 256), (3, 3, 256, 256), 1, "SAME", 1),
    ("3 channels, 16 features", (32, 64, 64, 3), (3, 3, 3, 16), 1, "SAME", 1),
    ("3 channels, 16 features, small", (8, 32, 32, 3), (3, 3, 3, 16), 1, "SAME", 1),
    ("3 channels, 32 features", (16, 64, 64, 3), (3, 3, 3, 32), 1, "SAME", 1),
    ("3 channels, 48 features", (16, 64, 64, 3), (3, 3, 3, 48), 1, "SAME", 1),
    ("3x3, 128 features", (32, 28, 28, 128), (3, 3, 128, 128), 1, "SAME", 1),
    ("7x7, to 3 features, CycleGAN", (1, 64, 64, 32), (7, 7, 32, 3), 1, "SAME", 1),
    ("3x3, one picture, 16 features", (1, 32, 32, 16), (3, 3, 16, 16), 1, "SAME", 1),
    ("3x3, four pictures, 8 features", (4, 32, 32, 8), (3, 3, 8, 8), 1, "SAME", 1),
    ("5x5, LeNet", (32, 28, 28, 6), (5, 5, 6, 16), 1, "VALID", 1),
    ("pointwise, small", (2, 8, 8, 4), (1, 1, 4, 8), 1, "SAME", 1),
    ("32 groups, ResNeXt", (8, 28, 28, 128), (3, 3, 4, 128), 1, "SAME", 32),
    ("32 groups, ResNeXt, few pixels", (8, 7, 7, 1024), (3, 3, 32, 1024), 1, "SAME", 32),
    ("2 groups, AlexNet", (8, 28, 28, 256), (3, 3, 128, 256), 1, "SAME", 2),
    ("3 groups, ShuffleNet", (8, 28, 28, 240), (1, 1, 80, 240), 1, "SAME", 3),
    ("8 groups, a series", (32, 100, 64), (3, 8, 64), 1, "SAME", 8),
    ("128 groups", (2, 14, 14, 2048), (3, 3, 16, 2048), 1, "SAME", 128),
    ("37 groups", (2, 14, 14, 1480), (3, 3, 40, 1480), 1, "SAME", 37),
    ("2 groups, small", (2, 8, 8, 4), (3, 3, 2, 4), 1, "SAME", 2),
    ("volume, 3x3x3", (2, 16, 32, 32, 8), (3, 3, 3, 8, 16), 1, "SAME", 1),
    ("volume, 3x7x7, first layer", (4, 16, 56, 56, 3), (3, 7, 7, 3, 32), 2, "SAME", 1),
    ("volume, 3x1x1", (4, 8, 14, 14, 64), (3, 1, 1, 64, 64), 1, "SAME", 1),
    ("volume, small", (1, 4, 4, 4, 2), (2, 2, 2, 2, 4), 1, "SAME", 1),
]

# Names of those whose gradients are timed in a loop as well.
IN_LOOPS = {"3x3, CIFAR", "5x5, LeNet", "pointwise, few channels", "pointwise, small"}

# Name, image, kernel with the outputs before the features, strides.
TRANSPOSED = [
    ("transposed 5x5, DCGAN", (64, 7, 7, 128), (5, 5, 64, 128), 2),
    ("transposed 5x5, DCGAN, last layer", (64, 14, 14, 64), (5, 5, 1, 64), 2),
    ("transposed 4x4, pix2pix", (16, 16, 16, 256), (4, 4, 128, 256), 2),
    ("transposed 2x2, U-Net", (8, 64, 64, 32), (2, 2, 16, 32), 2),
    ("transposed, small", (2, 4, 4, 4), (3, 3, 2, 4), 2),
]
LAYOUTS = {
    1: ("NHC", "HIO", "NHC"),
    2: ("NHWC", "HWIO", "NHWC"),
    3: ("NDHWC", "DHWIO", "NDHWC"),
}

# Name, image, window, strides, padding.
POOLINGS = [
    ("MNIST", (128, 26, 26, 32), 2, 2, "VALID"),
    ("MNIST, 28x28", (128, 28, 28, 32), 2, 2, "VALID"),
    ("ResNet", (16, 112, 112, 64), 3, 2, "SAME"),
    ("Inception", (16, 28, 28, 192), 3, 1, "SAME"),
    ("AlexNet", (8, 27, 27, 96), 3, 2, "VALID"),
    ("large window", (8, 28, 28, 32), 7, 7, "VALID"),
    ("one channel", (8, 64, 64, 1), 2, 2, "VALID"),
    ("small", (2, 8, 8, 4), 2, 2, "VALID"),
]

# Name, operand, kernel.
PRODUCTS = [
    ("product, transformer", (8, 128, 256), (256, 1024)),
    ("product, transformer, heads", (8, 128, 256), (256, 4, 64)),
    ("product, vocabulary", (8, 128, 256), (256, 5000)),
    ("product, MLP", (64, 784), (784, 256)),
    ("product, wide", (128, 2048), (2048, 2048)),
    ("product, few rows", (16, 512), (512, 1000)),
    ("product, small", (16, 16, 64), (64, 64)),
]

# Name, queries.
ATTENTIONS = [
    ("attention, 16 tokens", (256, 16, 4, 12)),
    ("attention, 64 tokens", (64, 64, 8, 16)),
    ("attention, 112 tokens", (32, 112, 4, 64)),
    ("attention, 168 tokens", (32, 168, 4, 64)),
    ("attention, 256 tokens", (16, 256, 4, 64)),
    ("attention, 512 tokens", (8, 512, 4, 64)),
]

# Name, shape.
DRAWS = [
    ("random bits, transformer", (8, 128, 256)),
    ("random bits, attention", (8, 4, 128, 128)),
    ("random bits, dense", (64, 256)),
    ("random bits, flat", (1_000_000,)),
]

Case = tuple[str, Callable[..., Any], tuple[jax.Array, ...]]


def numbers(*shape: int, seed: int = 0) -> jax.Array:
    """Makes an array of random numbers."""
    return jnp.asarray(np.random.default_rng(seed).standard_normal(shape), jnp.float32)


def convolutions() -> Iterator[Case]:
    """Gives each convolution and its two gradients, alone."""
    for name, image_shape, kernel_shape, stride, padding, groups in CONVOLUTIONS:

        def convolve(
            image: jax.Array,
            kernel: jax.Array,
            stride: int = stride,
            padding: str = padding,
            groups: int = groups,
        ) -> jax.Array:
            rank = image.ndim - 2
            return jax.lax.conv_general_dilated(
                image,
                kernel,
                (stride,) * rank,
                padding,
                dimension_numbers=LAYOUTS[rank],
                feature_group_count=groups,
            )

        image, kernel = numbers(*image_shape), numbers(*kernel_shape, seed=1)
        above = numbers(*jax.eval_shape(convolve, image, kernel).shape, seed=2)
        yield f"{name}", convolve, (image, kernel)

        def of_input(
            image: jax.Array, kernel: jax.Array, above: jax.Array, convolve: Any = convolve
        ) -> jax.Array:
            return jax.vjp(lambda image: convolve(image, kernel), image)[1](above)[0]

        def of_kernel(
            image: jax.Array, kernel: jax.Array, above: jax.Array, convolve: Any = convolve
        ) -> jax.Array:
            return jax.vjp(lambda kernel: convolve(image, kernel), kernel)[1](above)[0]

        yield f"{name}: gradient of input", of_input, (image, kernel, above)
        yield f"{name}: gradient of kernel", of_kernel, (image, kernel, above)


def loops() -> Iterator[Case]:
    """Gives the gradients of some convolutions in a loop of two turns."""
    for name, function, operands in convolutions():
        if name.split(":")[0] in IN_LOOPS and "gradient" in name:

            def twice(*operands: jax.Array, function: Any = function) -> jax.Array:
                *others, above = operands
                return jax.lax.map(lambda scale: function(*others, above * scale), jnp.ones(2))

            yield f"in a loop, {name}", twice, operands


def transposed() -> Iterator[Case]:
    """Gives the kernel gradient of each transposed convolution."""
    for name, image_shape, kernel_shape, stride in TRANSPOSED:

        def convolve(image: jax.Array, kernel: jax.Array, stride: int = stride) -> jax.Array:
            return jax.lax.conv_transpose(
                image,
                kernel,
                (stride, stride),
                "SAME",
                dimension_numbers=LAYOUTS[2],
                transpose_kernel=True,
            )

        def gradient(
            image: jax.Array, kernel: jax.Array, above: jax.Array, convolve: Any = convolve
        ) -> jax.Array:
            return jax.vjp(lambda kernel: convolve(image, kernel), kernel)[1](above)[0]

        image, kernel = numbers(*image_shape), numbers(*kernel_shape, seed=1)
        above = numbers(*jax.eval_shape(convolve, image, kernel).shape, seed=2)
        yield f"{name}: gradient of kernel", gradient, (image, kernel, above)


def poolings() -> Iterator[Case]:
    """Gives the gradient of each pooling."""
    for name, shape, size, stride, padding in POOLINGS:

        def pool(
            image: jax.Array, size: int = size, stride: int = stride, padding: str = padding
        ) -> jax.Array:
            return jax.lax.reduce_window(
                image, -jnp.inf, jax.lax.max, (1, size, size, 1), (1, stride, stride, 1), padding
            )

        def gradient(image: jax.Array, above: jax.Array, pool: Any = pool) -> jax.Array:
            return jax.vjp(pool, image)[1](above)[0]

        image = numbers(*shape)
        above = numbers(*jax.eval_shape(pool, image).shape, seed=2)
        yield f"max pooling, {name}: gradient", gradient, (image, above)


def matrix_products() -> Iterator[Case]:
    """Gives each product and its two gradients, alone."""
    for name, shape, kernel_shape in PRODUCTS:

        def multiply(x: jax.Array, kernel: jax.Array) -> jax.Array:
            return jnp.tensordot(x, kernel, 1)

        def of_operand(x: jax.Array, kernel: jax.Array, above: jax.Array) -> jax.Array:
            return jax.vjp(lambda x: multiply(x, kernel), x)[1](above)[0]

        def of_kernel(x: jax.Array, kernel: jax.Array, above: jax.Array) -> jax.Array:
            return jax.vjp(lambda kernel: multiply(x, kernel), kernel)[1](above)[0]

        x, kernel = numbers(*shape), numbers(*kernel_shape, seed=1)
        above = numbers(*shape[:-1], *kernel_shape[1:], seed=2)
        yield name, multiply, (x, kernel)
        yield f"{name}: gradient of operand", of_operand, (x, kernel, above)
        yield f"{name}: gradient of kernel", of_kernel, (x, kernel, above)


def attentions() -> Iterator[Case]:
    """Gives attention of a sequence to itself, with its gradients."""

    def attend(queries: jax.Array, keys: jax.Array, values: jax.Array) -> jax.Array:
        scores = jnp.einsum("bqhd,bkhd->bhqk", queries, keys)
        return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), values)

    def gradients(*operands: jax.Array) -> Any:
        *inputs, above = operands
        return jax.vjp(attend, *inputs)[1](above)

    for name, shape in ATTENTIONS:
        yield f"{name}: gradients", gradients, tuple(numbers(*shape, seed=n) for n in range(4))


def draws() -> Iterator[Case]:
    """Gives the random bits of each shape."""
    for name, shape in DRAWS:

        def draw(key: jax.Array, shape: tuple[int, ...] = shape) -> jax.Array:
            return jax.random.bits(key, shape)

        yield name, draw, (jax.random.key(0),)


def measure(function: Callable[..., Any], operands: Any, rounds: int) -> list[str]:
    """Times one operation both ways, in turns.

    Returns:
        Milliseconds of both, and the ratio; they are the processor's time, which other programs
        on the machine change less than that of the clock. And the ratio by the clock.
    """
    program = jax.make_jaxpr(function)(*operands)
    better = direct_products(with_plain_layouts(for_cpu(program)))
    threads = threads_of_device(1, spans_processes=False)
    options: dict[str, str | bool] = {**library_options(better, "cpu", threads)}
    if str(better) == str(program) and not options:
        return ["", "", "left to XLA", ""]
    runs = [
        jax.jit(jaxpr_as_fun(each)).lower(*operands).compile(chosen or None)
        for each, chosen in ((better, options), (program, {}))
    ]
    times: list[list[float]] = [[], []]
    clock: list[list[float]] = [[], []]
    for run in runs:
        jax.block_until_ready(run(*operands))
    start = time.perf_counter()
    jax.block_until_ready(runs[0](*operands))
    repeats = max(1, min(100, int(0.02 / (time.perf_counter() - start))))
    for _ in range(rounds):
        gc.collect()
        for run, of_run, by_clock in zip(runs, times, clock, strict=True):
            start, began = time.process_time(), time.perf_counter()
            for _ in range(repeats):
                result = run(*operands)
            jax.block_until_ready(result)
            by_clock.append(time.perf_counter() - began)
            of_run.append((time.process_time() - start) / repeats * 1e3)
    ours, theirs = map(statistics.median, times)
    ratios = [
        statistics.median(a / b for a, b in zip(*each, strict=True)) for each in (times, clock)
    ]
    return [f"{ours:.2f}", f"{theirs:.2f}", *(f"{ratio:.2f}" for ratio in ratios)]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="a part of the name")
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    table = Table("operation", "ours, ms", "XLA, ms", "ours / XLA", "by the clock")
    keep_freed_memory()
    cases = (
        *convolutions(),
        *loops(),
        *transposed(),
        *poolings(),
        *matrix_products(),
        *attentions(),
        *draws(),
    )
    for name, function, operands in cases:
        if arguments.only in name:
            table.add_row(name, *measure(function, operands, arguments.rounds))
    Console().print(table)


if __name__ == "__main__":
    main()
