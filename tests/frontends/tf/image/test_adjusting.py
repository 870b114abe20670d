"""Adjustments; the recorded results have the numbers."""

import jax
import numpy as np
import pytest

from frontends import tf

IMAGE = np.random.RandomState(0).rand(16, 16, 3).astype(np.float32)


def test_integers_are_clipped():
    pixels = np.array([[[0], [200]]], np.uint8)
    np.testing.assert_array_equal(tf.image.adjust_brightness(pixels, 0.5), [[[127], [255]]])


def test_adjustments_have_gradients():
    def loss(factor):
        return tf.reduce_sum(tf.image.adjust_contrast(IMAGE, factor) ** 2)

    assert np.isfinite(jax.grad(loss)(1.5))


def test_low_quality_changes_an_image_more():
    def error(quality):
        return float(abs(np.asarray(tf.image.adjust_jpeg_quality(IMAGE, quality)) - IMAGE).mean())

    assert error(95) < error(20) < 0.5
    assert tf.image.adjust_jpeg_quality(IMAGE, 50).dtype == tf.float32


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="delta must be from -1 to 1"):
        tf.image.adjust_hue(IMAGE, 2.0)
    with pytest.raises(ValueError, match="gamma must not be negative"):
        tf.image.adjust_gamma(IMAGE, -1)
