"""Optimizers of `tf.contrib.opt`, as the kernels of TensorFlow 2.15 that they called compute them."""

import numpy as np
import pytest

from frontends import tf

opt = tf.contrib.opt
FACTORS, TARGETS = np.float32([0.5, -1.0, 0.25]), np.float32([1.0, 2.0, -1.0])


def trained(optimizer, name="w"):
    w = tf.Variable([0.4, -0.3, 0.2], name=name)
    for step in range(1, 5):
        gradient = FACTORS * (w - TARGETS) * step
        optimizer.apply_gradients([(gradient, w)])
    return w.numpy()


@pytest.mark.parametrize(
    ("optimizer", "expected"),
    [
        (lambda: opt.NadamOptimizer(0.05), [0.7021818161, -0.6051030159, -0.1040440053]),
        (lambda: opt.AdaMaxOptimizer(0.05), [0.5607340336, -0.4544927776, 0.0421198122]),
        (
            lambda: opt.LARSOptimizer(2.0, weight_decay=0.1, eeta=0.01),
            [0.4091363251, -0.3708165288, 0.1908470094],
        ),
        (lambda: opt.AdamWOptimizer(0.1, 0.05), [0.4294348657, -0.3633257747, -0.0367299318]),
        (
            lambda: opt.MomentumWOptimizer(0.1, 0.05, 0.9, use_nesterov=True),
            [0.6097234488, -4.0022783279, -0.1968745887],
        ),
    ],
)
def test_values_after_four_steps(optimizer, expected):
    np.testing.assert_allclose(trained(optimizer()), expected, rtol=5e-5)


def test_lars_takes_the_learning_rate_as_it_is_where_it_is_told_to():
    skipping = opt.LARSOptimizer(0.1, skip_list=["bias"])
    momentum = tf.train.MomentumOptimizer(0.1, 0.9)
    np.testing.assert_array_equal(trained(skipping, "bias"), trained(momentum))
    with pytest.raises(ValueError, match="momentum should be positive: -1"):
        opt.LARSOptimizer(0.1, -1.0)
