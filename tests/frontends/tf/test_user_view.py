"""`x.shape` and `x.dtype` of the user's code and of libraries: this file runs on every supported version."""

import flax.nnx as nnx
import jax
import jax.numpy as jnp
import keras
import numpy as np
import optax
import pytest
from jax.sharding import PartitionSpec

from frontends import tf

LIBRARY = compile("seen = type(x.shape), type(x.dtype)", jnp.__file__, "exec")


def library_sees(x):
    found = {"x": x}
    exec(LIBRARY, found)
    return found["seen"]


def user_sees(x):
    return type(x.shape), type(x.dtype)


def checked(x):
    """Returns the array, once both see what they should."""
    assert user_sees(x) == (tf.TensorShape, tf.DType)
    kind, dtype = library_sees(x)
    assert kind is tuple
    assert issubclass(dtype, np.dtype)
    return x


TRANSFORMS = {
    "eager": lambda f: f,
    "jit": jax.jit,
    "grad": lambda f: lambda x: x + jax.grad(lambda x: f(x).sum())(x),
    "vmap": jax.vmap,
    "jvp": lambda f: lambda x: jax.jvp(f, (x,), (x,))[1],
    "remat": jax.checkpoint,
    "scan": lambda f: lambda x: jax.lax.scan(lambda carry, row: (carry, f(row)), 0.0, x)[1],
    "shard_map": lambda f: jax.shard_map(
        f,
        mesh=jax.sharding.Mesh(np.array(jax.devices("cpu")[:2]), ("x",)),
        in_specs=PartitionSpec("x"),
        out_specs=PartitionSpec("x"),
    ),
    "tf.function": tf.function,
}


@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS)
def test_each_sees_its_own(transform):
    x = jnp.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(transform(checked)(x) % 1, 0)


def test_in_replicas():
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    value = strategy.run(lambda: checked(tf.ones([2, 3])).shape.num_elements())
    assert [int(part) for part in value.values] == [6, 6]


def test_what_users_do_with_shapes():
    @tf.function
    def flat(x):
        assert x.shape.as_list() == x.get_shape().as_list() == [4, 2, 3]
        assert x.shape.rank == x.shape.ndims == len(x.shape) == 3
        x.shape.assert_has_rank(3)
        x.set_shape([None, 2, 3])
        with pytest.raises(ValueError, match=r"\(4, 2, 3\) is not compatible .* \(None, 5\)"):
            x.set_shape([None, 5])
        return tf.reshape(x, x.shape[:1] + [x.shape[1:].num_elements()])  # noqa: RUF005

    assert flat(tf.ones([4, 2, 3])).shape == [4, 6]


def test_what_users_do_with_dtypes():
    @tf.function
    def largest(x):
        assert x.dtype.is_floating
        assert not x.dtype.is_integer
        assert x.dtype.as_numpy_dtype is np.float32
        assert x.dtype.name == "float32"
        assert x.dtype is tf.float32
        return x.dtype.max * tf.ones_like(x)

    assert largest(tf.ones(2))[0] == np.finfo(np.float32).max
    assert tf.constant([1]).dtype.is_integer
    assert repr(tf.constant(True).dtype) == "tf.bool"


def test_a_random_key_keeps_its_dtype():
    key = jax.random.key(0)
    assert key.shape == ()
    assert jax.dtypes.issubdtype(key.dtype, jax.dtypes.prng_key)


def test_jax_takes_what_the_user_sees():
    x = jnp.ones((2, 3), jnp.bfloat16)
    for y in (
        jnp.zeros(x.shape, x.dtype),
        jax.lax.full(x.shape, 1, x.dtype),
        jax.random.normal(jax.random.key(0), x.shape, x.dtype),
        jnp.broadcast_to(jnp.ones((), x.dtype), x.shape),
        jax.lax.convert_element_type(jnp.ones((2, 3)), x.dtype),
        jax.eval_shape(lambda: jnp.zeros(x.shape, x.dtype)),
        np.zeros(x.shape, x.dtype),
        jax.ShapeDtypeStruct(x.shape, x.dtype),
    ):
        assert y.shape == x.shape
        assert y.dtype == x.dtype
    assert jnp.finfo(x.dtype).bits == 16
    assert jnp.issubdtype(x.dtype, jnp.floating)
    assert jnp.promote_types(x.dtype, jnp.float32) == jnp.float32
    assert jax.dtypes.canonicalize_dtype(x.dtype) == x.dtype
    assert (x.dtype.kind, x.dtype.itemsize) == (np.dtype(x.dtype).kind, 2)
    assert hash(x.shape) == hash((2, 3))
    lowered = jax.jit(jnp.reshape, static_argnums=1).lower(x, x.shape[::-1])
    assert lowered.out_info.shape == (3, 2)
    carried, _ = jax.lax.scan(lambda carry, _: (carry, None), x.shape, None, 2)
    assert tuple(map(int, carried)) == (2, 3)


def test_libraries_take_what_the_user_sees():
    x = jnp.ones((4, 3))
    layer = nnx.Linear(x.shape[1], 2, param_dtype=x.dtype, rngs=nnx.Rngs(0))
    assert layer(x).shape == (4, 2)
    optimizer = nnx.Optimizer(layer, optax.adam(0.1), wrt=nnx.Param)
    optimizer.update(layer, nnx.grad(lambda layer: layer(x).sum())(layer))
    dense = keras.layers.Dense(2, dtype=x.dtype)
    dense.build(x.shape)
    assert dense(x).shape == (4, 2)
    assert keras.Input(x.shape[1:], dtype=x.dtype).shape == (None, 3)


def test_code_without_a_file_is_the_users():
    found = {"x": jnp.ones(2)}
    exec("sizes = x.shape.as_list()", found)
    assert found["sizes"] == [2]
