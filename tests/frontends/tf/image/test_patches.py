"""Patches of images."""

import numpy as np
import pytest

from frontends import tf

IMAGES = np.arange(2 * 4 * 4).reshape(2, 4, 4, 1).astype(np.float32)


def test_windows_become_channels():
    found = tf.image.extract_patches(IMAGES, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID")
    assert found.shape == (2, 2, 2, 4)
    np.testing.assert_array_equal(found[0, 0, 1], [2, 3, 6, 7])
    with pytest.raises(ValueError, match="padding must be SAME or VALID"):
        tf.image.extract_patches(IMAGES, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "FULL")
