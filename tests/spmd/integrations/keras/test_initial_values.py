"""Keras's draws and constants: the numbers that Keras alone gives, by few compiled programs."""

import functools

import jax
import jax.numpy as jnp
import keras
import numpy as np
import pytest

from spmd.integrations.keras import applied_patches, patch_keras

patch_keras()
DRAWS = ("normal", "truncated_normal", "uniform")
SHAPES = [(), (0, 3), (7,), (2, 1, 3, 2), (1, 4097), (129, 257)]


def alone(name):
    """Keras's own function."""
    return next(row.before for row in applied_patches() if row.patch.attribute == name)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("draw", DRAWS)
def test_the_numbers_are_those_of_keras_alone(draw, shape):
    ours = getattr(keras.random, draw)(shape, -0.25, 1.5, seed=11)
    np.testing.assert_array_equal(ours, alone(draw)(shape, -0.25, 1.5, seed=11))
    assert isinstance(ours, jax.Array)
    assert ours.shape == shape


@pytest.mark.parametrize("draw", DRAWS)
def test_the_numbers_are_those_of_keras_alone_where_jax_has_64_bits(draw):
    with jax.enable_x64(True):
        ours = getattr(keras.random, draw)((2, 3), -0.25, 1.5, seed=11)
        theirs = alone(draw)((2, 3), -0.25, 1.5, seed=11)
    assert ours.dtype == theirs.dtype == jnp.float32
    np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("draw", DRAWS)
def test_a_generator_moves_on_as_with_keras_alone(draw):
    one, other = keras.random.SeedGenerator(3), keras.random.SeedGenerator(3)
    for dtype in ("float32", "bfloat16", "float32"):
        ours = getattr(keras.random, draw)((2, 3), dtype=dtype, seed=one)
        theirs = alone(draw)((2, 3), dtype=dtype, seed=other)
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(one.state.value, other.state.value)


@pytest.mark.parametrize("draw", DRAWS)
def test_a_trace_draws_its_own_numbers(draw):
    def drawn(key):
        return getattr(keras.random, draw)((2, 3), seed=key)

    key = jnp.array([5, 0], jnp.uint32)
    np.testing.assert_allclose(jax.jit(drawn)(key), drawn(key), rtol=1e-6)
    assert "random_bits" in str(jax.make_jaxpr(lambda: drawn(key))())


@pytest.mark.parametrize("dtype", [None, "float16", "int32", "bool"])
def test_constants_are_those_of_jax(dtype):
    for name, number in (("zeros", 0), ("ones", 1)):
        ours = getattr(keras.ops, name)((2, 3), dtype)
        assert ours.dtype == alone(name)((2, 3), dtype).dtype
        np.testing.assert_array_equal(ours, np.full((2, 3), number))


def test_shapes_share_programs(caplog):
    """The sizes are those of one program; the shapes are of no other test."""

    def make(last):
        layer = keras.layers.Conv2D(last, 3, kernel_initializer="he_normal")
        layer.build((None, 8, 8, 5))

    make(6)
    with jax.log_compiles(), caplog.at_level("DEBUG"):
        for last in (7, 8, 9):
            make(last)
        assert "Compiling" not in caplog.text
        jnp.ones((5, 4, 3, 2))
    assert "Compiling" in caplog.text, "JAX says it in other words now"


def alone_of(initializer):
    """What an initializer of Keras gives without the engine."""
    call = next(
        row.before
        for row in applied_patches()
        if row.patch.owner is type(initializer) and row.patch.attribute == "__call__"
    )
    return functools.partial(call, initializer)


@pytest.mark.parametrize(
    "shape", [(4, 4), (3, 5), (5, 3), (2, 3, 7), (3, 3, 2, 4), (1, 1)], ids=str
)
@pytest.mark.parametrize("gain", [1.0, 0.7])
def test_orthogonal_columns_are_those_of_keras_alone(shape, gain):
    ours = keras.initializers.Orthogonal(gain, seed=3)(shape)
    theirs = alone_of(keras.initializers.Orthogonal(gain, seed=3))(shape)
    np.testing.assert_array_equal(ours, theirs)
    assert ours.dtype == jnp.float32


def test_a_vector_has_no_orthogonal_columns():
    with pytest.raises(ValueError, match="two-dimensional"):
        keras.initializers.Orthogonal()((3,))


@pytest.mark.parametrize("dtype", [None, "float16", "int32"])
@pytest.mark.parametrize("value", [0.1, 3, [1.0, 2.0]], ids=str)
def test_constants_are_those_of_keras_alone(value, dtype):
    ours = keras.initializers.Constant(value)((3, 2), dtype)
    theirs = alone_of(keras.initializers.Constant(value))((3, 2), dtype)
    assert ours.dtype == theirs.dtype
    np.testing.assert_array_equal(ours, theirs)


def test_nothing_divided_by_nothing_is_nothing():
    for one, other in [(1.0, 0.0), (0.0, 0.0), (3.0, 2.0)]:
        ours = keras.ops.divide_no_nan(jnp.array(one), jnp.array(other))
        theirs = alone("divide_no_nan")(one, other)
        assert float(ours) == float(theirs)
    traced = jax.grad(lambda x: keras.ops.divide_no_nan(x, 0.0))(1.0)
    assert float(traced) == 0.0
