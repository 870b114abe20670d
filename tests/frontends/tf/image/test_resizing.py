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
            tf.image.resize(BYTES[:rows], [3, 3], antialias=True)
        assert "Compiling" not in caplog.text
        tf.image.resize(tf.constant(BYTES), [3, 7])
    assert "Compiling" in caplog.text


@pytest.mark.parametrize("method", ["bicubic", "lanczos3", "lanczos5"])
def test_other_methods_keep_even_images(method):
    even = np.full((4, 4, 1), 3.0, np.float32)
    close(tf.image.resize(even, [7, 3], method=method), np.full((7, 3, 1), 3.0))


@pytest.mark.parametrize("method", ["bilinear", "bicubic", "area", "lanczos3"])
def test_a_map_that_is_compiled_gives_the_same(method):
    def resize(image):
        assert isinstance(image, jax.core.Tracer)
        return tf.image.resize(image, [3, 9], method)

    images = tf.data.Dataset.from_tensor_slices(BYTES[None])
    (found,) = images.map(resize).batch(1).as_numpy_iterator()
    close(found[0], np.asarray(tf.image.resize(BYTES, [3, 9], method)))


def test_sizes_that_vary_in_a_map_compile_nothing(caplog):
    images = [BYTES[: 2 + n] for n in range(3)]
    dataset = tf.data.Dataset.from_generator(
        lambda: images, output_signature=tf.TensorSpec([None, 4, 3], tf.uint8)
    ).map(lambda x: tf.image.resize(tf.image.random_brightness(x, 0.0), [3, 3]))
    next(iter(dataset))
    with jax.log_compiles(), caplog.at_level("DEBUG"):
        found = list(dataset)
    assert "Compiling" not in caplog.text
    for image, resized in zip(images, found, strict=True):
        close(resized, tf.image.resize(tf.constant(image), [3, 3]))
