"""Hue, saturation and value, there and back."""

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf.image import hsv

COLORS = np.random.RandomState(0).rand(20, 3).astype(np.float32)


def test_there_and_back():
    np.testing.assert_allclose(hsv.from_hsv(np, *hsv.to_hsv(np, COLORS)), COLORS, atol=1e-6)


def test_gray_has_a_gradient():
    def loss(x):
        return jnp.stack(hsv.to_hsv(jnp, x)).sum()

    assert np.isfinite(jax.grad(loss)(jnp.full((2, 3), 0.5))).all()
    assert np.isfinite(jax.grad(loss)(jnp.zeros((2, 3)))).all()


def test_numpy_computes_images_without_channels_which_are_fast():
    assert all(part.flags.c_contiguous for part in hsv.to_hsv(np, COLORS))
    assert [part.shape for part in hsv.to_hsv(np, COLORS)] == [(20,)] * 3
