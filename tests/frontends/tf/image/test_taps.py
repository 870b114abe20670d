"""The weights of resizing."""

import numpy as np
import pytest

from frontends.tf.image import taps

MAKERS = [
    taps.bilinear_taps,
    taps.nearest_taps,
    taps.bicubic_taps,
    taps.area_taps,
    *(
        lambda length, size, kernel=kernel: taps.kernel_taps(length, size, kernel, True)
        for kernel in ("triangle", "keyscubic", "mitchellcubic", "lanczos3", "gaussian")
    ),
]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("sizes", [(5, 3), (3, 7), (4, 4), (1, 5), (6, 1)])
def test_weights_add_up_to_one(make, sizes):
    length, size = sizes
    made = make(length, size)
    assert made.indices.shape == made.weights.shape
    assert made.indices.min() >= 0
    assert made.indices.max() < length
    matrix = made.matrix(length)
    assert matrix.shape == (size, length)
    np.testing.assert_allclose(matrix.sum(1), 1, atol=1e-5)


def test_corners_are_aligned():
    grid = taps.Grid(align_corners=True, half_pixel_centers=False)
    np.testing.assert_allclose(grid.positions(5, 3), [0, 2, 4])
