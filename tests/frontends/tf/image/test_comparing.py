"""Differences of images as losses; the recorded results have the numbers."""

import numpy as np
import pytest

from frontends import tf

IMAGE = np.random.RandomState(0).rand(1, 16, 16, 3).astype(np.float32)


def test_equal_images_are_similar():
    assert float(tf.image.ssim(IMAGE, IMAGE, 1.0)[0]) == pytest.approx(1)
    assert float(tf.image.psnr(IMAGE, IMAGE + 0.1, 1.0)[0]) == pytest.approx(20, abs=1e-3)


def test_similarity_has_a_gradient():
    other = tf.Variable(IMAGE * 0.9)
    with tf.GradientTape() as tape:
        loss = 1 - tf.reduce_mean(tf.image.ssim(IMAGE, other, 1.0))
        loss += 1e-3 * tf.reduce_sum(tf.image.total_variation(other))
    gradient = np.asarray(tape.gradient(loss, other))
    assert np.isfinite(gradient).all()
    assert gradient.any()


def test_small_images_are_an_error():
    with pytest.raises(ValueError, match="smaller than the window, filter_size=11"):
        tf.image.ssim(IMAGE[:, :8], IMAGE[:, :8], 1.0)
