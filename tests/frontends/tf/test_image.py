"""Images; what is resized has the numbers that TensorFlow 2.21 gave."""

import jax
import numpy as np
import pytest

from frontends import tf

IMAGE = np.arange(12, dtype=np.float32).reshape(1, 3, 4, 1)
BYTES = (np.random.RandomState(0).rand(6, 4, 3) * 255).astype(np.uint8)


def close(actual, expected):
    assert actual.shape == np.shape(expected)
    np.testing.assert_allclose(np.asarray(actual), expected, rtol=2e-5, atol=1e-6)


def test_resize_has_half_pixel_centres_and_no_antialiasing():
    larger = [1, 1.5, 2.1666667, 2.8333333, 3.5, 4, 7, 7.5, 8.1666667, 8.8333333, 9.5, 10]
    close(tf.image.resize(IMAGE[0], [2, 6]), np.reshape(larger, (2, 6, 1)))
    close(tf.image.resize(IMAGE, (2, 2)), np.reshape([1.5, 3.5, 7.5, 9.5], (1, 2, 2, 1)))
    smooth = [2.2142863, 3.7857151, 7.2142868, 8.7857151]
    close(tf.image.resize(IMAGE, [2, 2], antialias=True), np.reshape(smooth, (1, 2, 2, 1)))


def test_resize_dtypes():
    assert tf.image.resize(BYTES, [3, 3]).dtype == tf.float32
    assert tf.image.resize(BYTES, [6, 4]).dtype == tf.float32
    nearest = tf.image.resize(
        IMAGE.astype(np.uint8), [2, 3], tf.image.ResizeMethod.NEAREST_NEIGHBOR
    )
    assert nearest.dtype == tf.uint8
    np.testing.assert_array_equal(np.ravel(nearest), [0, 2, 3, 8, 10, 11])
    assert tf.image.resize(IMAGE, [10, 8], preserve_aspect_ratio=True).shape == (1, 6, 8, 1)
    with pytest.raises(ValueError, match="bilinear"):
        tf.image.resize(IMAGE, [2, 2], method="best")


@pytest.mark.parametrize("method", ["bilinear", "nearest"])
@pytest.mark.parametrize("size", [[3, 9], [6, 4], [1, 2], [13, 5]])
def test_resize_gives_the_same_for_numpy_arrays_and_tensors(method, size):
    for images in (BYTES, BYTES[None].repeat(2, 0), BYTES.astype(np.float64)):
        on_host = tf.image.resize(images, size, method)
        compiled = jax.jit(lambda x: tf.image.resize(x, size, method))(images)
        assert isinstance(on_host, jax.Array)
        assert on_host.dtype == compiled.dtype
        np.testing.assert_allclose(on_host, compiled, rtol=1e-5, atol=1e-4)


def test_resize_compiles_nothing_for_each_size_of_a_numpy_array(caplog):
    tf.image.resize(BYTES, [3, 3])
    with jax.log_compiles(), caplog.at_level("DEBUG"):
        for rows in range(1, 6):
            tf.image.resize(BYTES[:rows], [3, 3])
        assert "Compiling" not in caplog.text
        tf.image.resize(BYTES, [3, 3], antialias=True)
    assert "Compiling" in caplog.text


@pytest.mark.parametrize("method", ["bicubic", "lanczos3", "lanczos5"])
def test_other_methods_keep_even_images(method):
    even = np.full((4, 4, 1), 3.0, np.float32)
    close(tf.image.resize(even, [7, 3], method=method), np.full((7, 3, 1), 3.0))


def test_convert_image_dtype():
    close(tf.image.convert_image_dtype(BYTES, tf.float32), BYTES / 255)
    floats = np.array([[[0, 0.5, 1.0]]], np.float32)
    np.testing.assert_array_equal(tf.image.convert_image_dtype(floats, tf.uint8), [[[0, 127, 255]]])
    np.testing.assert_array_equal(
        tf.image.convert_image_dtype(floats * 4 - 1, tf.uint8, saturate=True), [[[0, 255, 255]]]
    )
    np.testing.assert_array_equal(
        tf.image.convert_image_dtype(BYTES, tf.uint16), BYTES.astype(np.uint16) * 256
    )
    wide = np.array([[[0, 700, 65535]]], np.uint16)
    np.testing.assert_array_equal(tf.image.convert_image_dtype(wide, tf.uint8), wide // 256)
    assert tf.image.convert_image_dtype(floats, tf.bfloat16).dtype == tf.bfloat16


def test_flips_and_crops():
    np.testing.assert_array_equal(tf.image.flip_left_right(BYTES), BYTES[:, ::-1])
    np.testing.assert_array_equal(tf.image.flip_up_down(BYTES[None]), BYTES[None, ::-1])
    np.testing.assert_array_equal(tf.image.central_crop(BYTES, 0.5), BYTES[1:5, 1:3])
    np.testing.assert_array_equal(tf.image.central_crop(BYTES, 1.0), BYTES)
    with pytest.raises(ValueError, match="central_fraction"):
        tf.image.central_crop(BYTES, 0)


def test_standardization():
    result = tf.image.per_image_standardization(np.stack([BYTES, BYTES // 2]))
    close(result[0], (BYTES - BYTES.mean()) / BYTES.std())
    np.testing.assert_allclose(np.std(result[1]), 1, rtol=1e-5)
    np.testing.assert_array_equal(tf.image.per_image_standardization(IMAGE * 0), IMAGE * 0)


def test_gray():
    image = np.array([[[10, 200, 30], [255, 255, 255]]], np.uint8)
    gray = tf.image.rgb_to_grayscale(image)
    np.testing.assert_array_equal(gray, [[[124], [255]]])  # TensorFlow's
    assert gray.dtype == tf.uint8
    np.testing.assert_array_equal(tf.image.grayscale_to_rgb(gray)[0, 0], [124] * 3)


def test_in_a_map_of_a_dataset():
    data = tf.data.Dataset.from_tensor_slices(BYTES[None]).map(
        lambda image: tf.image.resize(tf.image.convert_image_dtype(image, tf.float32), [2, 2])
    )
    (image,) = data
    expected = jax.jit(lambda x: tf.image.resize(x, [2, 2]))(BYTES / np.float32(255))
    np.testing.assert_allclose(image, expected, rtol=1e-5)


def test_psnr():
    halves, others = tf.fill([2, 4, 4, 3], 0.5), tf.fill([2, 4, 4, 3], 0.4)
    np.testing.assert_allclose(tf.image.psnr(halves, others, max_val=1.0), [20, 20], rtol=1e-5)
    fives, sevens = (tf.cast(tf.fill([4, 4, 3], value), tf.uint8) for value in (5, 7))
    # As TensorFlow gives it.
    np.testing.assert_allclose(tf.image.psnr(fives, sevens, max_val=255), 42.1102, rtol=1e-5)
    assert np.isinf(tf.image.psnr(fives, fives, 255))
    with pytest.raises(ValueError, match="images of one shape"):
        tf.image.psnr(halves, others[:, 1:], 1.0)
