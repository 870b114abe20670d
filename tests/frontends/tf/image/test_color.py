"""Colours; the recorded results have the numbers."""

import numpy as np
import pytest

from frontends import tf

IMAGE = np.random.RandomState(0).rand(4, 5, 3).astype(np.float32)


@pytest.mark.parametrize("kind", ["hsv", "yiq", "yuv"])
def test_there_and_back(kind):
    to, back = (getattr(tf.image, name) for name in (f"rgb_to_{kind}", f"{kind}_to_rgb"))
    np.testing.assert_allclose(back(to(IMAGE)), IMAGE, atol=2e-3)


def test_gray_keeps_the_dtype():
    found = tf.image.rgb_to_grayscale((IMAGE * 255).astype(np.uint8))
    assert found.dtype == tf.uint8
    assert found.shape == (4, 5, 1)
    assert tf.image.grayscale_to_rgb(found).shape == (4, 5, 3)
    with pytest.raises(ValueError, match="expected 3 channels"):
        tf.image.rgb_to_grayscale(found)
