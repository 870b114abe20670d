"""Initializers of a variance that follows from the shape."""

import numpy as np
import pytest

from frontends import tf

v1 = tf.compat.v1
SHAPE = (3, 3, 40, 80)  # 360 inputs, 720 outputs


@pytest.mark.parametrize(
    ("made", "variance"),
    [
        (v1.glorot_uniform_initializer(1), 2 / 1080),
        (v1.glorot_normal_initializer(1), 2 / 1080),
        (v1.initializers.he_normal(1), 2 / 360),
        (v1.initializers.he_uniform(1), 2 / 360),
        (v1.initializers.lecun_normal(1), 1 / 360),
        (v1.initializers.lecun_uniform(1), 1 / 360),
        (v1.variance_scaling_initializer(seed=1), 1 / 360),
        (v1.variance_scaling_initializer(3.0, "fan_out", "untruncated_normal", 1), 3 / 720),
    ],
)
def test_variance(made, variance):
    drawn = made(SHAPE).numpy()
    np.testing.assert_allclose(drawn.var(), variance, rtol=0.03)
    assert abs(drawn.mean()) < 0.01 * np.sqrt(variance) * 3


def test_uniform_numbers_have_a_limit_and_normal_ones_are_truncated():
    limit = np.sqrt(3 * 2 / 1080)
    assert 0.99 * limit < v1.glorot_uniform_initializer(1)(SHAPE).max() <= limit
    cut = 2 * np.sqrt(2 / 1080) / 0.87962566
    assert 0.99 * cut < v1.glorot_normal_initializer(1)(SHAPE).max() <= cut * (1 + 1e-6)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"scale": 0}, "`scale` must be a positive float. Received: 0"),
        ({"mode": "fan"}, "`mode` should be one of .* Received: fan"),
        ({"distribution": "gamma"}, "`distribution` should be one of .* Received: gamma"),
    ],
)
def test_what_does_not_exist_is_an_error(wrong, message):
    with pytest.raises(ValueError, match=message):
        v1.variance_scaling_initializer(**wrong)
