"""The weights of resizing: which source pixels an output pixel takes, and how much of each.

All computations are in float32 where TensorFlow's are, since the weights depend on how positions round.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

_F = np.float32


class Taps(NamedTuple):
    """What the pixels along one axis of the output are made of.

    Attributes:
        indices: of source pixels, shape `[size, taps]`.
        weights: float32, of the same shape.
    """

    indices: np.ndarray[Any, Any]
    weights: np.ndarray[Any, Any]

    def matrix(self, length: int) -> np.ndarray[Any, Any]:
        """Makes the matrix of shape `[size, length]` that stands for them."""
        matrix = np.zeros((len(self.indices), length), _F)
        np.add.at(matrix, (np.arange(len(self.indices))[:, None], self.indices), self.weights)
        return matrix


class Grid(NamedTuple):
    """Where output pixels lie among source pixels.

    Attributes:
        align_corners: the centres of the corner pixels coincide.
        half_pixel_centers: pixels have their centres at halves.
    """

    align_corners: bool = False
    half_pixel_centers: bool = True

    def scale(self, length: int, size: int) -> Any:
        """Returns how many source pixels an output pixel spans."""
        if self.align_corners and size > 1:
            return _F(length - 1) / _F(size - 1)
        return _F(length) / _F(size)

    def positions(self, length: int, size: int) -> np.ndarray[Any, Any]:
        """Returns the position of each output pixel, in source pixels."""
        pixels, scale = np.arange(size, dtype=_F), self.scale(length, size)
        if self.half_pixel_centers:
            return (pixels + _F(0.5)) * scale - _F(0.5)
        return pixels * scale


HALF_PIXEL, WHOLE_PIXEL = Grid(), Grid(half_pixel_centers=False)


@functools.lru_cache(256)
def bilinear_taps(length: int, size: int, grid: Grid = HALF_PIXEL) -> Taps:
    """Takes the two nearest pixels, by their distance."""
    positions = grid.positions(length, size)
    below = np.floor(positions)
    share = positions - below
    lower = np.maximum(below, 0).astype(np.intp)
    upper = np.minimum(np.ceil(positions), length - 1).astype(np.intp)
    return Taps(np.stack([lower, upper], 1), np.stack([1 - share, share], 1))


@functools.lru_cache(256)
def nearest_taps(length: int, size: int, grid: Grid = HALF_PIXEL) -> Taps:
    """Takes the nearest pixel."""
    pixels, scale = np.arange(size, dtype=_F), grid.scale(length, size)
    if grid.half_pixel_centers:
        found = np.floor((pixels + _F(0.5)) * scale)
    elif grid.align_corners:
        found = np.floor(pixels * scale + _F(0.5))
    else:
        found = np.floor(pixels * scale)
    indices = np.clip(found, 0, length - 1).astype(np.intp)
    return Taps(indices[:, None], np.ones((size, 1), _F))


# TensorFlow looks the weights of bicubic filters up in a table of so many steps.
_STEPS = 1024


@functools.lru_cache(256)
def bicubic_taps(length: int, size: int, grid: Grid = HALF_PIXEL) -> Taps:
    """Takes four pixels; with centres at halves by Keys' filter, else by the older, sharper one."""
    sharpness = -0.5 if grid.half_pixel_centers else -0.75
    positions = grid.positions(length, size)
    below = np.floor(positions)
    step = np.rint((positions - below) * _F(_STEPS)) / _STEPS
    distances = np.stack([step + 1, step, 1 - step, 2 - step], 1)
    weights = _cubic(distances, sharpness).astype(_F)
    wanted = below.astype(np.intp)[:, None] + np.arange(-1, 3)
    indices = np.clip(wanted, 0, length - 1)
    if grid.half_pixel_centers:
        weights = np.where(wanted == indices, weights, 0)
        weights = weights / weights.sum(1, keepdims=True)
    return Taps(indices, weights)


@functools.lru_cache(256)
def area_taps(length: int, size: int, grid: Grid = WHOLE_PIXEL) -> Taps:
    """Averages the pixels that an output pixel covers, by the part that it covers of each."""
    scale = float(grid.scale(length, size))
    starts = np.arange(size) * scale
    ends = starts + scale
    first = np.floor(starts).astype(np.intp)
    count = int((np.ceil(ends) - first).max())
    pixels = first[:, None] + np.arange(count)
    covered = np.minimum(pixels + 1, ends[:, None]) - np.maximum(pixels, starts[:, None])
    weights = (np.maximum(covered, 0) / scale).astype(_F)
    return Taps(np.clip(pixels, 0, length - 1), weights)


@functools.lru_cache(256)
def kernel_taps(length: int, size: int, kernel: str, antialias: bool) -> Taps:
    """Weighs pixels by a function of their distance, which is stretched to average where an image gets smaller."""
    radius, weigh = _KERNELS[kernel]
    scale = _F(1) / (_F(size) / _F(length))
    stretch = max(scale, _F(1)) if antialias else _F(1)
    centers = (np.arange(size, dtype=_F) + _F(0.5)) * scale
    reach = _F(radius) * stretch
    first = np.clip(np.ceil(centers - reach - _F(0.5)), 0, length - 1).astype(np.intp)
    last = np.clip(np.floor(centers + reach - _F(0.5)), 0, length - 1).astype(np.intp)
    pixels = first[:, None] + np.arange(int((last - first).max()) + 1)
    distances = np.abs(pixels.astype(_F) + _F(0.5) - centers[:, None]) / stretch
    weights = np.where(pixels <= last[:, None], weigh(distances), 0)
    sums = weights.sum(1, keepdims=True)
    weights = weights / np.where(np.abs(sums) < 1000 * np.finfo(_F).tiny, 1, sums)
    return Taps(np.minimum(pixels, length - 1), weights.astype(_F))


def _cubic(distance: Any, sharpness: float) -> Any:
    near = ((sharpness + 2) * distance - (sharpness + 3)) * distance**2 + 1
    far = ((distance - 5) * distance + 8) * distance - 4
    return np.where(distance <= 1, near, np.where(distance < 2, sharpness * far, 0))


def _mitchell(distance: Any) -> Any:
    near = (7 * distance - 12) * distance**2 / 6 + 16 / 18
    far = ((-7 * distance / 18 + 2) * distance - 60 / 18) * distance + 32 / 18
    return np.where(distance < 1, near, np.where(distance < 2, far, 0))


def _lanczos(radius: int) -> Callable[[Any], Any]:
    return lambda distance: np.where(
        distance > radius, 0, np.sinc(distance) * np.sinc(distance / radius)
    )


def _gaussian(distance: Any) -> Any:
    return np.where(distance >= 1.5, 0, np.exp(-2 * distance**2))


# How far a function reaches, and the function of the distance.
_KERNELS: dict[str, tuple[float, Callable[[Any], Any]]] = {
    "triangle": (1, lambda distance: np.maximum(1 - distance, 0)),
    "keyscubic": (2, lambda distance: _cubic(distance, -0.5)),
    "mitchellcubic": (2, _mitchell),
    "lanczos3": (3, _lanczos(3)),
    "lanczos5": (5, _lanczos(5)),
    "gaussian": (1.5, _gaussian),
}
