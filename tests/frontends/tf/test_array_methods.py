"""What arrays have besides JAX's methods, which touches classes of JAX: this file runs on every supported version."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from frontends import tf
from frontends.tf import _array_methods


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


def test_shapes():
    x = tf.ones([2, 3])
    assert x.get_shape().as_list() == [2, 3]
    assert x.set_shape([None, 3]) is None
    x.set_shape(tf.TensorShape(None))
    with pytest.raises(
        ValueError, match=r"Tensor's shape \(2, 3\) is not compatible .*tf\.reshape"
    ):
        x.set_shape([3, 3])


def test_a_device_answers_like_its_name_in_tensorflow():
    x = jax.device_put(1.0, jax.devices("cpu")[1])
    assert x.device.endswith("CPU:1")
    assert x.device.startswith("/job:localhost")
    assert "CPU" in x.device
    assert "GPU" not in x.device
    assert x.device == jax.devices("cpu")[1]  # JAX's own, all the same


@pytest.mark.parametrize("name", ["get_shape", "set_shape", "ref"])
def test_traced_and_concrete_arrays_have_them(name):
    assert hasattr(jnp.ones(2), name)
    jax.jit(lambda x: [x, hasattr(x, name) or pytest.fail(name)][0])(1.0)


def test_installing_again_changes_nothing():
    before = dict(vars(type(jnp.ones(()))))
    _array_methods.install()
    assert dict(vars(type(jnp.ones(())))) == before


def test_tensors():
    assert isinstance(tf.ones(2), tf.Tensor)
    jax.jit(lambda x: isinstance(x, tf.Tensor) or pytest.fail("no tensor"))(1.0)
    assert tf.is_tensor(tf.ones(2))
    assert tf.is_tensor(tf.Variable(1.0))
    for other in (np.ones(2), [1.0], 1.0, "text"):
        assert not isinstance(other, tf.Tensor)
        assert not tf.is_tensor(other)


def test_there_is_no_session_to_evaluate_in():
    x = jnp.ones(2)
    with pytest.raises(NotImplementedError, match=r"write x.numpy\(\)"):
        x.eval()
    with pytest.raises(NotImplementedError, match=r"In a model function have a hook show it"):
        jax.jit(lambda x: x.eval())(x)
