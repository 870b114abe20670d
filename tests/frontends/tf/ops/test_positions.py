"""Places in an array, of which some may not exist."""

import jax
import jax.numpy as jnp
import pytest

from frontends.tf.ops.positions import existing


def test_what_does_not_exist_raises_and_is_put_outside_in_a_program():
    with pytest.raises(ValueError, match=r"v has no element -1 along an axis of 3: .* \[0, 3\)"):
        existing([jnp.array([0, -1])], (3,), "v has no element")
    (found,) = jax.jit(lambda i: existing([i], (3, 2), ""))(jnp.array([0, -1, 2, 3]))
    assert found.tolist() == [0, 3, 2, 3]
