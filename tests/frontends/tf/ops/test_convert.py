"""What becomes a tensor, and of which dtype."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from frontends import tf
from tests.frontends.tf.ops.comparing import same

X = np.random.RandomState(0).randn(3, 4).astype(np.float32)
F32, I32 = np.float32, np.int32


class Holder:
    """What a variable looks like to JAX."""

    def __init__(self, value):
        self.value = value

    def __jax_array__(self):
        return jnp.asarray(self.value)


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (1.5, F32),
        (1, I32),
        (True, np.bool_),
        (1j, np.complex64),
        ([1, 2], I32),
        ([[1.0], [2]], F32),
        (np.float64(1), F32),
        (np.arange(3), I32),
        (np.uint8(1), np.uint8),
        ([], F32),
        ([np.float32(1), jnp.float32(2)], F32),
    ],
)
def test_python_numbers_have_32_bits(value, dtype):
    for function in (tf.constant, tf.convert_to_tensor, tf.identity):
        array = function(value)
        assert isinstance(array, jax.Array)
        assert array.dtype == dtype
        assert not array.weak_type
        np.testing.assert_array_equal(array, np.asarray(value, dtype))


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(1.7, tf.int32), ([1, 2.5], tf.uint8), (1, tf.bool), (1j, tf.float32), ("a", tf.float32)],
)
def test_a_value_that_does_not_fit_the_dtype_is_refused(value, dtype):
    for function in (tf.constant, tf.convert_to_tensor):
        with pytest.raises(TypeError, match="Cannot convert"):
            function(value, dtype)


def test_an_array_of_another_dtype_is_refused():
    for value in (tf.constant(1.5), tf.Variable(1.5)):
        with pytest.raises(ValueError, match=r"tf.cast\(x, tf.int32\)"):
            tf.convert_to_tensor(value, tf.int32)
    same(tf.constant(np.array([1.7]), tf.int32), np.array([1], I32))  # NumPy's are cast
    same(tf.convert_to_tensor(tf.constant([1.5]), np.float64), np.array([1.5], F32))


def test_a_hint_is_followed_only_if_the_value_fits():
    same(tf.convert_to_tensor(1, dtype_hint=tf.float32), F32(1))
    same(tf.convert_to_tensor([1, 2.5], dtype_hint=tf.int32), np.array([1, 2.5], F32))
    same(tf.convert_to_tensor(tf.constant(2), dtype_hint=tf.float32), I32(2))
    assert tf.convert_to_tensor("text", dtype_hint=tf.float32) == "text"


def test_none_is_no_tensor():
    for value in (None, [None, 1]):
        with pytest.raises(ValueError, match=r"None.*unsupported type"):
            tf.constant(value)


def test_traced_values_join_numbers():
    same(jax.jit(lambda x: tf.stack([x, 1.0]))(2.0), np.array([2, 1], F32))
    same(jax.jit(lambda x: tf.constant([x, 1.0]))(2.0), np.array([2, 1], F32))
    same(jax.jit(lambda x: tf.constant([x, 1], dtype=tf.float16))(2), np.array([2, 1], np.float16))


def test_variables():
    variable = Holder(X)
    for function in (tf.exp, tf.nn.relu, tf.reduce_mean, tf.transpose, tf.identity, tf.nn.softmax):
        same(function(variable), np.asarray(function(X)))
    same(tf.add(variable, 1), X + 1)
    same(tf.concat([variable, X], 0), np.concatenate([X, X]))
    same(jax.jit(lambda x: tf.stack([Holder(x), 1.0]))(2.0), np.array([2, 1], F32))
    assert tf.is_tensor(variable)
    assert tf.is_tensor(tf.constant(1))
    assert not tf.is_tensor(X)


class Symbolic:
    """What a tensor of a Keras functional model looks like to JAX."""

    shape = (None, 3)

    def __jax_array__(self):
        raise ValueError("A KerasTensor cannot be used as input to a JAX function.")


def test_a_symbolic_tensor_is_refused():
    for function in (tf.shape, tf.rank, tf.size, tf.nn.relu, tf.convert_to_tensor):
        with pytest.raises(ValueError, match="KerasTensor"):
            function(Symbolic())


def test_what_follows_from_constants_is_known_in_a_program() -> None:
    @tf.function
    def run(x):
        rows = tf.constant([2, -1]) * tf.constant(1)
        size = tf.reduce_prod(tf.shape(x))
        return (
            tf.reshape(x, rows),
            tf.zeros([size, tf.constant(1)]),
            tf.reduce_sum(x, tf.constant(0)),
        )

    reshaped, zeros, total = run(tf.constant(X))
    same(reshaped, X.reshape(2, -1))
    assert zeros.shape == (12, 1)
    same(total, X.sum(0), rtol=1e-5)


def test_what_depends_on_an_argument_is_not_known() -> None:
    with pytest.warns(UserWarning, match=r"runs as Python.* tf\.zeros needs, as a size"):
        assert tf.function(lambda n: tf.zeros([n + 1]))(tf.constant(3)).shape == (4,)


def test_bytes_keep_their_zeros_at_the_end():
    found = tf.convert_to_tensor([b"a\0", b"b"])
    assert found.tolist() == [b"a\0", b"b"]
    assert tf.convert_to_tensor(b"a\0").item() == b"a\0"
    assert tf.convert_to_tensor([b"a", b"b"]).dtype.name == "string"


def test_what_is_computed_of_sizes_is_known_while_a_program_is_traced():
    @jax.jit
    def first(x):
        rows = tf.cast(tf.shape(x, out_type=tf.int64)[0], tf.int32)
        assert int(tf.add(rows, 1)) == 3
        alone = tf.logical_not(tf.greater(rows * 2, 2))
        return tf.cond(alone, lambda: tf.squeeze(x, 0), lambda: x[0])

    assert first(np.float32([[1, 2], [3, 4]])).tolist() == [1, 2]


class _FrozenForReal(tf.keras.layers.BatchNormalization):
    """The batch normalization of many YOLOs: Keras asks for `training`."""

    def call(self, x, training=False):
        return super().call(x, tf.logical_and(training, self.trainable))


def test_layers_can_ask_for_conditions_that_are_known_while_they_are_traced():
    inputs, inner_inputs = tf.keras.Input((4,)), tf.keras.Input((4,))
    inner = tf.keras.Model(inner_inputs, _FrozenForReal()(inner_inputs))
    model = tf.keras.Model(inputs, inner(inputs))
    model.compile("sgd", "mse")
    rows = np.arange(32, dtype=np.float32).reshape(8, 4)
    history = model.fit(rows, rows, batch_size=4, shuffle=False, verbose=0).history
    assert history["loss"] == pytest.approx([316.6090087890625], rel=1e-5)  # tf_keras 2.21


def test_conditions_that_only_the_program_knows_stay_in_it():
    signs = jax.jit(lambda x: tf.logical_not(tf.logical_or(x > 0, False)))(np.float32([1, -2]))
    assert signs.tolist() == [False, True]
