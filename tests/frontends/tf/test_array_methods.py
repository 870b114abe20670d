"""`x.numpy()`, which touches a class of JAX: this file runs on every supported version."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from frontends import tf


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int32", "bool", "complex64"])
def test_numpy(dtype):
    array = tf.ones([2, 3], dtype).numpy()
    assert type(array) is np.ndarray
    assert array.dtype == dtype
    array[0, 0] = 0  # a copy, which may be written to
    scalar = tf.cast(1, dtype).numpy()
    assert isinstance(scalar, np.generic)
    assert scalar.dtype == dtype
    assert scalar == 1


def test_of_spread_and_replicated_arrays():
    mesh = jax.make_mesh((2,), ("x",), devices=jax.devices("cpu")[:2])
    for spec in (jax.P("x"), jax.P()):
        array = jax.device_put(jnp.arange(4), jax.sharding.NamedSharding(mesh, spec))
        np.testing.assert_array_equal(array.numpy(), [0, 1, 2, 3])


def test_a_tracer_has_none():
    def function(x):
        assert not hasattr(x, "numpy")
        with pytest.raises(AttributeError, match=r"float32\[\] while .*Return it .*tf\.print"):
            x.numpy()
        return x

    one = jnp.float32(1)
    jax.jit(function)(one)
    jax.grad(function)(one)
    tf.function(function)(one)
    tf.distribute.MirroredStrategy(["cpu:0"]).run(function, args=(one,))
