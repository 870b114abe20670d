"""What images have to be."""

import numpy as np
import pytest

from frontends.tf.image import _sizes


def test_says_which_shape_was_expected():
    _sizes.check_rank("tf.image.f", np.ones((2, 2, 1)))
    with pytest.raises(ValueError, match=r"tf.image.f: .* with 3 to 4 axes; got shape \(2,\)"):
        _sizes.check_rank("tf.image.f", np.ones(2))
    with pytest.raises(
        ValueError, match=r"expected 3 channels in the last axis, got shape \(2, 2, 1\)"
    ):
        _sizes.check_channels("tf.image.f", np.ones((2, 2, 1)), 3)
