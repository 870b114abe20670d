"""Resizing in NumPy."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from frontends.tf.image import host_resizing, taps

IMAGES = np.random.RandomState(0).rand(2, 9, 10, 3).astype(np.float32)


def by_matrix(images, rows, columns):
    matrices = rows.matrix(images.shape[-3]), columns.matrix(images.shape[-2])
    return np.einsum("...hwc,yh,xw->...yxc", images, *matrices)


def test_sums_over_taps_are_products_with_the_matrix():
    for make in (taps.bilinear_taps, taps.bicubic_taps, taps.area_taps):
        rows, columns = make(9, 4), make(10, 13)
        found = host_resizing.resize_on_host(IMAGES, rows, columns)
        np.testing.assert_allclose(found, by_matrix(IMAGES, rows, columns), rtol=1e-5)


def test_many_taps():
    rows, columns = (taps.kernel_taps(size, 2, "lanczos5", True) for size in (9, 10))
    found = host_resizing.resize_on_host(IMAGES, rows, columns)
    np.testing.assert_allclose(found, by_matrix(IMAGES, rows, columns), rtol=1e-4, atol=1e-6)


def test_threads_have_memory_of_their_own():
    rows, columns = taps.bilinear_taps(9, 30), taps.bilinear_taps(10, 31)
    expected = [host_resizing.resize_on_host(image, rows, columns) for image in IMAGES]
    with ThreadPoolExecutor(4) as pool:
        found = list(
            pool.map(
                lambda n: host_resizing.resize_on_host(IMAGES[n % 2], rows, columns), range(64)
            )
        )
    for number, each in enumerate(found):
        np.testing.assert_array_equal(each, expected[number % 2])


def test_images_without_pixels():
    rows, columns = taps.nearest_taps(1, 2), taps.nearest_taps(1, 2)
    assert host_resizing.resize_on_host(np.zeros((0, 1, 3)), rows, columns).shape == (2, 2, 3)
