"""Partitioners of variables, which stay whole here: by them optimizers name slots as TensorFlow does."""

import math
from collections.abc import Callable, Sequence

from frontends.tf._typing import DTypeLike, ShapeLike
from frontends.tf.dtypes import as_dtype
from frontends.tf.tensor_shape import TensorShape


def fixed_size_partitioner(num_shards: int, axis: int = 0) -> Callable[..., list[int]]:
    """Makes a partitioner, for `partitioner=` of a variable: how many parts it has along each axis.

    Args:
        num_shards: the parts along the axis.
        axis: which one; the others are whole.

    Returns:
        A function of a shape and a dtype.

    Source: `tf.compat.v1.fixed_size_partitioner`.
    """

    def partitioner(shape: ShapeLike, dtype: DTypeLike = None, **kwargs: object) -> list[int]:
        sizes = [int(size) for size in TensorShape(shape)]
        parts = [1] * len(sizes)
        parts[axis] = min(num_shards, sizes[axis])
        return parts

    return partitioner


def variable_axis_size_partitioner(
    max_shard_bytes: int,
    axis: int = 0,
    bytes_per_string_element: int = 16,
    max_shards: int | None = None,
) -> Callable[..., list[int]]:
    """Makes a partitioner whose parts have at most a size; see `fixed_size_partitioner`.

    Args:
        max_shard_bytes: the size; a part has at least one index along the axis.
        axis: which is divided.
        bytes_per_string_element: accepted, and not used: variables hold no texts.
        max_shards: how many parts there may be; None means any number.

    Raises:
        ValueError: a limit is less than 1.

    Source: `tf.compat.v1.variable_axis_size_partitioner`.
    """
    if max_shard_bytes < 1 or (max_shards is not None and max_shards < 1):
        raise ValueError(
            f"max_shard_bytes and max_shards must be at least 1, got {max_shard_bytes} and {max_shards}."
        )

    def partitioner(shape: ShapeLike, dtype: DTypeLike, **kwargs: object) -> list[int]:
        sizes = [int(size) for size in TensorShape(shape)]
        parts = [1] * len(sizes)
        if math.prod(sizes):
            slice_bytes = max(1, _bytes(sizes, dtype) // sizes[axis])
            indices = max(1, max_shard_bytes // slice_bytes)
            shards = math.ceil(sizes[axis] / indices)
            parts[axis] = shards if max_shards is None else min(max_shards, shards)
        return parts

    return partitioner


def min_max_variable_partitioner(
    max_partitions: int = 1,
    axis: int = 0,
    min_slice_size: int = 256 << 10,
    bytes_per_string_element: int = 16,
) -> Callable[..., list[int]]:
    """Makes a partitioner whose parts have at least a size; see `fixed_size_partitioner`.

    Args:
        max_partitions: how many parts there may be.
        axis: which is divided.
        min_slice_size: in bytes.
        bytes_per_string_element: accepted, and not used: variables hold no texts.

    Source: `tf.compat.v1.min_max_variable_partitioner`.
    """

    def partitioner(shape: ShapeLike, dtype: DTypeLike, **kwargs: object) -> list[int]:
        sizes = [int(size) for size in TensorShape(shape)]
        parts = [1] * len(sizes)
        slices = math.ceil(_bytes(sizes, dtype) / min_slice_size)
        parts[axis] = max(1, min(sizes[axis], max_partitions, slices))
        return parts

    return partitioner


def _bytes(sizes: Sequence[int], dtype: DTypeLike) -> int:
    return math.prod(sizes) * as_dtype(dtype).size
