"""Limits on entries and on norms."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from frontends import tf
from tests.frontends.tf.ops.comparing import close

X = np.random.RandomState(0).randn(3, 4).astype(np.float32)


def test_clipping():
    close(tf.clip_by_value(X, clip_value_min=-0.5, clip_value_max=1), X.clip(-0.5, 1))
    length = np.linalg.norm(X)
    close(tf.clip_by_norm(X, 1.0), X / length)
    close(tf.clip_by_norm(X, 100.0), X)
    close(
        tf.clip_by_norm(X, 1.0, axes=[1]),
        X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1),
    )
    assert np.isfinite(jax.grad(lambda x: tf.clip_by_norm(x, 1.0).sum())(jnp.zeros(2))).all()


def test_clip_by_global_norm():
    gradients = [np.array([3, 4], np.float32), None, np.array([12], np.float32)]
    clipped, norm = tf.clip_by_global_norm(gradients, 6.5)
    assert norm == tf.linalg.global_norm(gradients) == 13
    close(clipped[0], gradients[0] / 2)
    assert clipped[1] is None
    close(clipped[2], gradients[2] / 2)
    close(tf.clip_by_global_norm(gradients, 100)[0][0], gradients[0])
    close(tf.clip_by_global_norm(gradients, 6.5, use_norm=26.0)[0][0], gradients[0] / 4)
    (broken,), norm = tf.clip_by_global_norm([np.array([np.inf, 1], np.float32)], 5)
    assert np.isnan(broken).all()
    assert np.isinf(norm)
    assert tf.clip_by_global_norm([jnp.ones(2, jnp.bfloat16)], 1.0)[0][0].dtype == tf.bfloat16


def test_limits_have_the_dtype_of_what_they_limit():
    assert tf.clip_by_value(tf.cast(X, tf.float16), np.float64(0), 1).dtype == tf.float16
    close(tf.clip_by_value(X, -1, [0, 1, 2, 3]), X.clip(-1, np.arange(4, dtype=np.float32)))
    with pytest.raises(TypeError, match="cut off"):
        tf.clip_by_value([1, 2], 0, 1.5)
