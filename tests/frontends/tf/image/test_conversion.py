"""Conversion of images; the recorded results have more cases."""

import jax
import numpy as np
import pytest

from frontends import tf

BYTES = (np.random.RandomState(0).rand(6, 4, 3) * 255).astype(np.uint8)


def test_converts_between_ranges():
    found = tf.image.convert_image_dtype(BYTES, tf.float32)
    assert isinstance(found, jax.Array)
    np.testing.assert_allclose(found, BYTES / 255, rtol=1e-6)
    floats = np.array([[[0, 0.5, 1.0]]], np.float32)
    np.testing.assert_array_equal(tf.image.convert_image_dtype(floats, tf.uint8), [[[0, 127, 255]]])
    wide = np.array([[[0, 700, 65535]]], np.uint16)
    np.testing.assert_array_equal(tf.image.convert_image_dtype(wide, tf.uint8), wide // 256)
    assert tf.image.convert_image_dtype(floats, tf.bfloat16).dtype == tf.bfloat16


@pytest.mark.parametrize("dtype", [tf.uint8, tf.int16, tf.int32])
@pytest.mark.parametrize("of", [np.asarray, tf.constant])
def test_saturation_clips_what_is_beyond(dtype, of):
    far = of(np.array([[[-3.0, 0.0, 5.0]]], np.float32))
    found = tf.image.convert_image_dtype(far, dtype, saturate=True)
    limits = np.iinfo(dtype.as_numpy_dtype)
    low, _, high = np.asarray(found).ravel().tolist()
    assert low == limits.min
    assert high == pytest.approx(limits.max, rel=1e-6)


def test_standardization():
    found = np.asarray(tf.image.per_image_standardization(BYTES))
    assert found.dtype == np.float32
    assert found.mean() == pytest.approx(0, abs=1e-5)
    assert found.std() == pytest.approx(1, abs=1e-5)
    np.testing.assert_array_equal(
        tf.image.per_image_standardization(np.ones((2, 2, 1))), np.zeros((2, 2, 1))
    )


def test_no_conversion_of_booleans():
    with pytest.raises(AttributeError, match="got bool"):
        tf.image.convert_image_dtype(BYTES, tf.bool)
