"""Gradients that are cut down before an optimizer applies them."""

import pytest

from frontends import tf


def test_all_gradients_are_scaled_alike():
    inner = tf.train.MomentumOptimizer(1.0, 0.9)
    optimizer = tf.contrib.estimator.clip_gradients_by_norm(inner, 1.0)
    x, y = tf.Variable(0.0), tf.Variable(0.0)
    optimizer.minimize(lambda: 3 * x + 4 * y)
    assert [float(x), float(y)] == pytest.approx([-0.6, -0.8])
    assert optimizer.get_name() == "ClipByNormMomentum"
    assert optimizer.get_slot_names() == ["momentum"]
    assert float(optimizer.get_slot(x, "momentum")) == pytest.approx(0.6)
    assert optimizer.variables() == inner.variables()
