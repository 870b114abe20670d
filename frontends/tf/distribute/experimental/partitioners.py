"""`tf.distribute.experimental.partitioners`: how many shards to split a variable into.

A *partitioner* is called with a shape and a type, and returns the number of shards along each axis. At
most one axis is split. Parameter servers, which would use it, do not exist yet.
"""

import abc
import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from frontends.tf._typing import DTypeLike


class Partitioner(abc.ABC):
    """Splits shapes.

    Source: `tf.distribute.experimental.partitioners.Partitioner`.
    """

    @abc.abstractmethod
    def __call__(self, shape: Sequence[int], dtype: DTypeLike, axis: int = 0) -> list[int]:
        """Splits a shape.

        Returns:
            The number of shards along each axis.
        """


@dataclasses.dataclass(frozen=True)
class FixedShardsPartitioner(Partitioner):
    """Splits into `num_shards` shards, or into single rows if there are fewer.

    Source: `tf.distribute.experimental.partitioners.FixedShardsPartitioner`.
    """

    num_shards: int

    def __call__(self, shape: Sequence[int], dtype: DTypeLike, axis: int = 0) -> list[int]:
        """Splits a shape; see `Partitioner`."""
        return _along(axis, shape, min(self.num_shards, shape[axis]))


@dataclasses.dataclass(frozen=True)
class MinSizePartitioner(Partitioner):
    """Splits into as many shards as hold some number of bytes each; the last may hold fewer.

    Attributes:
        min_shard_bytes: approximate minimum size of a shard.
        max_shards: how many shards, at most.
        bytes_per_string: size assumed for a string.

    Raises:
        ValueError: one of them is below 1.

    Examples:
        >>> MinSizePartitioner(min_shard_bytes=4, max_shards=10)([6, 1], np.float32)
        [6, 1]

    Source: `tf.distribute.experimental.partitioners.MinSizePartitioner`.
    """

    min_shard_bytes: int = 256 << 10
    max_shards: int = 1
    bytes_per_string: int = 16

    def __post_init__(self) -> None:
        _check_positive(self)

    def __call__(self, shape: Sequence[int], dtype: DTypeLike, axis: int = 0) -> list[int]:
        """Splits a shape; see `Partitioner`."""
        total = math.prod(shape) * _bytes(dtype, self.bytes_per_string)
        shards = min(math.ceil(total / self.min_shard_bytes), self.max_shards, shape[axis])
        return _along(axis, shape, max(1, shards))


@dataclasses.dataclass(frozen=True)
class MaxSizePartitioner(Partitioner):
    """Splits into as few shards as hold at most some number of bytes each.

    Attributes:
        max_shard_bytes: bytes of a shard, at most (unless `max_shards` forbids it).
        max_shards: how many shards, at most; None for any number.
        bytes_per_string: size assumed for a string.

    Raises:
        ValueError: one of them is below 1.

    Examples:
        >>> MaxSizePartitioner(max_shard_bytes=4, max_shards=2)([6, 1], np.float32)
        [2, 1]

    Source: `tf.distribute.experimental.partitioners.MaxSizePartitioner`.
    """

    max_shard_bytes: int
    max_shards: int | None = None
    bytes_per_string: int = 16

    def __post_init__(self) -> None:
        _check_positive(self)

    def __call__(self, shape: Sequence[int], dtype: DTypeLike, axis: int = 0) -> list[int]:
        """Splits a shape; see `Partitioner`."""
        others = math.prod(size for index, size in enumerate(shape) if index != axis % len(shape))
        row = others * _bytes(dtype, self.bytes_per_string)
        rows = max(1, self.max_shard_bytes // row) if row else shape[axis]
        shards = math.ceil(shape[axis] / rows) if rows else 1
        return _along(axis, shape, max(1, min(shards, self.max_shards or shards)))


def _along(axis: int, shape: Sequence[int], shards: int) -> list[int]:
    parts = [1] * len(shape)
    parts[axis] = shards
    return parts


def _bytes(dtype: DTypeLike, text: int) -> int:
    kind = np.dtype(getattr(dtype, "as_numpy_dtype", dtype))
    return text if kind.kind in "OSU" else kind.itemsize


def _check_positive(partitioner: Partitioner) -> None:
    for field, value in vars(partitioner).items():
        # None where it is the default means no limit.
        is_valid = getattr(type(partitioner), field, 0) is None if value is None else value >= 1
        if not is_valid:
            raise ValueError(
                f"{type(partitioner).__name__}'s {field} must be positive, but is {value}."
            )
