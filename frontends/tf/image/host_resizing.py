"""Resizing in NumPy: nothing is compiled, whatever the sizes, and other threads run meanwhile."""

import functools
import itertools
import math
import threading
from typing import Any

import numpy as np

from frontends.tf.image.taps import Taps

# From so many taps on, a product with the matrix is faster than a sum over taps.
_MANY = 8


class _Scratch(threading.local):
    """Memory for intermediate results of one thread: fresh memory costs more than the arithmetic."""

    def __init__(self) -> None:
        self.memory = np.empty(0, np.float32)

    def arrays(self, *shapes: tuple[int, ...]) -> list[np.ndarray[Any, Any]]:
        """Returns arrays that do not overlap; they hold until the next call."""
        sizes = list(map(math.prod, shapes))
        if self.memory.size < sum(sizes):
            self.memory = np.empty(sum(sizes), np.float32)
        ends = itertools.accumulate(sizes)
        return [
            self.memory[end - size : end].reshape(shape)
            for end, size, shape in zip(ends, sizes, shapes, strict=True)
        ]


_SCRATCH = _Scratch()


def resize_on_host(x: np.ndarray[Any, Any], rows: Taps, columns: Taps) -> np.ndarray[Any, Any]:
    """Resizes images by the taps of both axes.

    Args:
        x: images of shape `[..., height, width, channels]`.
        rows: what each row of the output is made of.
        columns: what each column is made of.

    Returns:
        float32.
    """
    if x.ndim == 3:
        return _resize(x, rows, columns)
    shape = (*x.shape[:-3], len(rows.indices), len(columns.indices), x.shape[-1])
    found = np.empty(shape, np.float32)
    for index in np.ndindex(*x.shape[:-3]):
        found[index] = _resize(x[index], rows, columns)
    return found


def take_on_host(x: np.ndarray[Any, Any], rows: Taps, columns: Taps) -> np.ndarray[Any, Any]:
    """Resizes images by the first tap of both axes, and keeps the dtype."""
    return x.take(rows.indices[:, 0], -3).take(columns.indices[:, 0], -2)


def _resize(x: np.ndarray[Any, Any], rows: Taps, columns: Taps) -> np.ndarray[Any, Any]:
    height, width, channels = x.shape
    new_height, new_width = len(rows.indices), len(columns.indices)
    if not x.size:
        return np.zeros((new_height, new_width, channels), np.float32)
    flat = x.astype(np.float32).reshape(height, width * channels)
    # The channels of a pixel are neighbours: an index for each of them is faster than a loop over pixels.
    entries, weights = _of_entries(_Key(columns), channels)
    result = np.empty((new_height, new_width * channels), np.float32)
    if rows.indices.shape[1] > _MANY or columns.indices.shape[1] > _MANY:
        between = rows.matrix(height) @ flat
        per_channel = between.reshape(new_height, width, channels)
        return np.einsum("hwc,vw->hvc", per_channel, columns.matrix(width), optimize=True)
    between, spare, other = _SCRATCH.arrays(
        (new_height, width * channels),
        (new_height, width * channels),
        (new_height, new_width * channels),
    )
    _sum(flat, 0, rows.indices.T, rows.weights.T[..., None], between, spare)
    _sum(between, 1, entries, weights, result, other)
    return result.reshape(new_height, new_width, channels)


def _sum(
    source: np.ndarray[Any, Any],
    axis: int,
    indices: Any,
    weights: Any,
    out: np.ndarray[Any, Any],
    spare: np.ndarray[Any, Any],
) -> None:
    """Adds weighted entries of a source along an axis."""
    # NumPy writes to `out` at once only where it need not check indices.
    source.take(indices[0], axis, out, "clip")
    if len(indices) == 2:
        # The weights add up to 1.
        source.take(indices[1], axis, spare, "clip")
        spare -= out
        spare *= weights[1]
        out += spare
        return
    out *= weights[0]
    for index, weight in zip(indices[1:], weights[1:], strict=True):
        source.take(index, axis, spare, "clip")
        spare *= weight
        out += spare


class _Key:
    """Taps as a key of a cache: those of the same sizes are the same object."""

    def __init__(self, taps: Taps) -> None:
        self.taps = taps

    def __hash__(self) -> int:
        return id(self.taps.indices)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and other.taps.indices is self.taps.indices


@functools.lru_cache(256)
def _of_entries(key: _Key, channels: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Returns indices and weights of taps, for each channel of a pixel."""
    indices = key.taps.indices.T[..., None] * channels + np.arange(channels)
    weights = np.repeat(key.taps.weights.T[..., None], channels, -1)
    count = len(indices)
    return np.ascontiguousarray(indices.reshape(count, -1)), weights.reshape(count, -1)
