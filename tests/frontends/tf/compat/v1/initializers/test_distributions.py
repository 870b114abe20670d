"""Initializers of one distribution: moments and bounds of many numbers."""

import numpy as np
import pytest

from frontends import tf

v1 = tf.compat.v1


def test_normal_numbers():
    drawn = v1.random_normal_initializer(1.0, 2.0, seed=1)([200, 100]).numpy()
    np.testing.assert_allclose([drawn.mean(), drawn.std()], [1, 2], atol=0.05)
    assert np.abs(drawn - 1).max() > 6


def test_truncated_normal_numbers():
    drawn = v1.truncated_normal_initializer(1.0, 2.0, seed=1)([200, 100]).numpy()
    np.testing.assert_allclose([drawn.mean(), drawn.std()], [1, 2 * 0.8796], atol=0.05)
    assert 3.9 < np.abs(drawn - 1).max() <= 4


def test_uniform_numbers():
    drawn = v1.random_uniform_initializer(seed=1)([200, 100]).numpy()
    assert 0 <= drawn.min() < 0.001
    assert 0.999 < drawn.max() < 1
    whole = v1.random_uniform_initializer(2, 5, seed=1)([100], tf.int32)
    assert set(whole.tolist()) == {2, 3, 4}
    with pytest.raises(ValueError, match="Must specify maxval for integer dtype int32"):
        v1.random_uniform_initializer()([2], tf.int32)


def test_unit_scaling():
    drawn = v1.uniform_unit_scaling_initializer(1.43, seed=1)([3, 4, 1000]).numpy()
    limit = 1.43 * np.sqrt(3 / 12)
    assert 0.999 * limit < drawn.max() <= limit
    assert v1.uniform_unit_scaling_initializer()([]).shape == ()
