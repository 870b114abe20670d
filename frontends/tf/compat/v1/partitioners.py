"""Partitioners of variables, which stay whole here: by them optimizers name slots as TensorFlow does."""

from collections.abc import Callable

from frontends.tf._typing import DTypeLike, ShapeLike
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
