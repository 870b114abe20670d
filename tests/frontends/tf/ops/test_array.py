"""Functions about arrays, against NumPy; most cases are where TensorFlow's convention is another."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from frontends import tf

X = np.random.RandomState(0).randn(3, 4).astype(np.float32)
F32, I32 = np.float32, np.int32


class Holder:
    """What a variable looks like to JAX."""

    def __init__(self, value):
        self.value = value

    def __jax_array__(self):
        return jnp.asarray(self.value)


def same(actual, expected, dtype=None):
    if isinstance(actual, list | tuple):
        assert len(actual) == len(expected)
        for one, other in zip(actual, expected, strict=True):
            same(one, other, dtype)
        return
    assert actual.dtype == (dtype or np.asarray(expected).dtype)
    assert actual.shape == np.shape(expected)
    np.testing.assert_allclose(np.asarray(actual), expected, rtol=1e-6)


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


def test_constant():
    same(tf.constant(7, shape=[2, 2]), np.full((2, 2), 7, I32))
    same(tf.constant([1, 2, 3, 4], tf.float32, (2, 2)), np.array([[1, 2], [3, 4]], F32))
    assert tf.constant([1, 2], dtype=tf.int64).dtype == tf.int32  # and no warning
    assert tf.constant("text") == "text"
    assert tf.constant(["a", "b"], tf.string).tolist() == ["a", "b"]
    with pytest.raises(OverflowError, match="jax_enable_x64"):
        tf.constant([2**40])


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


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((5,), np.arange(5, dtype=I32)),
        ((5.0,), np.arange(5, dtype=F32)),
        ((1, 10, 3), np.array([1, 4, 7], I32)),
        ((10, 0, -4), np.array([10, 6, 2], I32)),
        ((0.0, 1.0, 0.25), np.array([0, 0.25, 0.5, 0.75], F32)),
        ((0, 1.0, 0.5), np.array([0, 0.5], F32)),
    ],
)
def test_range(arguments, expected):
    same(tf.range(*arguments), expected)


def test_range_keywords():
    same(tf.range(3, dtype=tf.float32), np.arange(3, dtype=F32))
    same(tf.range(2, limit=6, delta=2), np.array([2, 4], I32))
    same(tf.range(tf.constant(3)), np.arange(3, dtype=I32))


def test_one_hot():
    same(tf.one_hot([0, 2, -1, 5], 3), np.array([[1, 0, 0], [0, 0, 1], [0] * 3, [0] * 3], F32))
    same(tf.one_hot([0, 1], 2, on_value=5, off_value=-1), np.array([[5, -1], [-1, 5]], I32))
    same(tf.one_hot([0, 1], 2, on_value=True, off_value=False), np.eye(2, dtype=bool))
    same(tf.one_hot([0, 2], depth=3, axis=0), np.array([[1, 0], [0, 0], [0, 1]], F32))
    same(tf.one_hot([[0], [1]], 2, dtype=tf.int32), np.eye(2, dtype=I32)[:, None])


@pytest.mark.parametrize("mode", ["CONSTANT", "REFLECT", "symmetric"])
def test_pad(mode):
    same(tf.pad(X, [[1, 2], [0, 1]], mode), np.pad(X, [(1, 2), (0, 1)], mode.lower()))
    same(tf.pad(X, tf.constant([[1, 0], [0, 0]])), np.pad(X, [(1, 0), (0, 0)]))
    same(tf.pad([1], [[1, 0]], constant_values=9), np.array([9, 1], I32))


def test_joining_and_splitting():
    same(tf.concat([X, X], axis=1), np.concatenate([X, X], 1))
    same(tf.concat([[1], [2, 3]], 0), np.array([1, 2, 3], I32))
    same(tf.stack([X, X], axis=-1), np.stack([X, X], -1))
    same(tf.stack([1, 2]), np.array([1, 2], I32))
    same(tf.unstack(X, axis=1), list(X.T))
    same(tf.split(X, 2, axis=1), [X[:, :2], X[:, 2:]])
    same(tf.split(X, [1, -1], axis=1), [X[:, :1], X[:, 1:]])
    same(tf.split(X, num_or_size_splits=[1, 2]), [X[:1], X[1:]])
    with pytest.raises(ValueError, match="add up to 5, but axis 0 of shape \\(3, 4\\) has 3"):
        tf.split(X, [1, 4])
    same(tf.tile(X, [2, 1]), np.tile(X, (2, 1)))
    same(tf.repeat([1, 2, 3], repeats=[1, 0, 2]), np.array([1, 3, 3], I32))
    same(tf.repeat(X, 2, axis=0), np.repeat(X, 2, 0))


def test_shaping():
    same(tf.reshape(X, [-1, 6]), X.reshape(-1, 6))
    same(tf.reshape(X, tf.constant([2, 6])), X.reshape(2, 6))
    same(tf.squeeze(X[None, :, None]), X)
    same(tf.squeeze(X[None, :, None], axis=[0]), X[:, None])
    same(tf.expand_dims(X, axis=-1), X[..., None])
    same(tf.transpose(X), X.T)
    same(tf.transpose(X[None], perm=[0, 2, 1]), X.T[None])
    same(tf.broadcast_to([1, 2], [2, 2]), np.array([[1, 2], [1, 2]], I32))
    same(tf.reverse(X, [0]), X[::-1])
    same(tf.roll(X, shift=1, axis=0), np.roll(X, 1, 0))
    same(tf.ensure_shape(X, [None, 4]), X)
    with pytest.raises(ValueError, match="expected shape \\(2, None\\), got \\(3, 4\\)"):
        tf.ensure_shape(X, [2, None])


def test_making():
    same(tf.zeros([2], tf.int32), np.zeros(2, I32))
    same(tf.ones(3), np.ones(3, F32))
    same(tf.zeros_like([1, 2]), np.zeros(2, I32))
    same(tf.ones_like(X, dtype=tf.int32), np.ones((3, 4), I32))
    same(tf.fill([2, 1], 7), np.full((2, 1), 7, I32))
    same(tf.eye(2, 3), np.eye(2, 3, dtype=F32))
    same(tf.eye(2, batch_shape=[3]), np.stack([np.eye(2, dtype=F32)] * 3))
    same(tf.linspace(0.0, 1.0, 5), np.linspace(0, 1, 5, dtype=F32))
    same(tf.sequence_mask([1, 3, 0]), np.arange(3) < np.array([[1], [3], [0]]))
    same(tf.sequence_mask([1], maxlen=3, dtype=tf.float32), np.array([[1, 0, 0]], F32))


def test_taking():
    same(tf.gather(X, [2, 0]), X[[2, 0]])
    same(tf.gather(X, [3, 1], axis=-1), X[:, [3, 1]])
    rows = np.array([[3, 1], [0, 0], [1, 1]])
    same(tf.gather(X, rows, batch_dims=1), np.take_along_axis(X, rows, 1))
    same(tf.gather(X, rows, axis=1, batch_dims=1), np.take_along_axis(X, rows, 1))
    same(tf.gather_nd(X, [[0, 1], [2, 3]]), X[[0, 2], [1, 3]])
    same(tf.gather_nd(X, [[2], [0]]), X[[2, 0]])
    same(tf.gather_nd(X, [[2], [0], [1]], batch_dims=1), X[[0, 1, 2], [2, 0, 1]])
    same(tf.boolean_mask(X, [True, False, True]), X[[0, 2]])
    same(tf.boolean_mask(X, [True, False, True, True], axis=1), X[:, [0, 2, 3]])
    same(tf.slice(X, [1, 0], [-1, 2]), X[1:, :2])
    same(tf.where(X > 0, X, 0.0), np.where(X > 0, X, 0))
    same(tf.where([True, False, True]), np.array([[0], [2]], I32))
    with pytest.raises(ValueError, match="both"):
        tf.where(X > 0, X)


def test_shapes_eagerly():
    same(tf.shape(X), np.array([3, 4], I32))
    assert tf.shape(X).numpy().tolist() == [3, 4]
    assert tf.shape([[1, 2]])[1] == 2
    assert tf.size(X).numpy() == 12
    assert tf.rank(X).numpy() == 2


def test_shapes_in_a_program_are_sizes():
    @jax.jit
    def program(x):
        rows = tf.shape(x)[0]
        assert rows == 3
        assert tf.size(x) == 12
        assert tf.rank(x) == 2
        assert tf.zeros((rows, 2)).shape == (3, 2)
        assert tf.zeros(tf.shape(x)).shape == (3, 4)
        assert tf.reshape(x, [rows, -1, 2]).shape == (3, 2, 2)
        assert tf.reshape(x, tf.concat([tf.shape(x)[:1], [2, 2]], axis=0)).shape == (3, 2, 2)
        assert tf.reshape(x, tf.stack([rows, -1])).shape == (3, 4)
        assert tf.range(rows).shape == (3,)
        return tf.reduce_sum(x) / tf.cast(rows, tf.float32)

    np.testing.assert_allclose(program(X), X.sum() / 3, rtol=1e-6)


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


def test_no_gradient_flows_through_stop_gradient():
    assert jax.grad(lambda x: x * tf.stop_gradient(x))(3.0) == 3


@pytest.mark.parametrize(
    ("begin", "size"),
    [([2, 0], [2, 1]), ([-1, 0], [1, 1]), ([4, 0], [0, 1]), ([4, 0], [-1, 1]), ([0, 0], [1, -2])],
)
def test_a_block_out_of_range_is_refused(begin, size):
    for first in (begin, tf.constant(begin)):
        with pytest.raises(ValueError, match=r"inside of shape \(3, 4\)"):
            tf.slice(X, first, size)
    with pytest.raises(ValueError, match="inside of shape"):
        jax.jit(lambda x: tf.slice(x, begin, size))(X)


def test_a_block_may_begin_where_the_program_says():
    cut = jax.jit(lambda x, row: tf.slice(x, [row, 0], [1, 2]))
    same(cut(X, 2), X[2:, :2])


def test_an_index_below_zero_is_out_of_range():
    assert np.isnan(tf.gather(X, [-1, 3])).all()
    assert np.isnan(tf.gather(X, [[-1], [0], [1]], batch_dims=1)[0]).all()
    assert np.isnan(tf.gather_nd(X, [[-1, 0], [0, 4]])).all()
    same(tf.gather(X, tf.constant([2], tf.uint8)), X[[2]])


def test_numbers_are_a_mask():
    same(tf.boolean_mask(X, [1, 0, 2]), X[[0, 2]])
    same(tf.boolean_mask(X, [1.0, 0.0, 0.0, 1.0], axis=-1), X[:, [0, 3]])


def test_conventions_for_empty_and_single_arguments():
    same(tf.squeeze(X[None], axis=[]), X)
    same(tf.concat(X, 0), X)
    same(tf.repeat([1, 2], [2], axis=0), np.array([1, 1, 2, 2], I32))


class Symbolic:
    """What a tensor of a Keras functional model looks like to JAX."""

    shape = (None, 3)

    def __jax_array__(self):
        raise ValueError("A KerasTensor cannot be used as input to a JAX function.")


def test_a_symbolic_tensor_is_refused():
    for function in (tf.shape, tf.rank, tf.size, tf.nn.relu, tf.convert_to_tensor):
        with pytest.raises(ValueError, match="KerasTensor"):
            function(Symbolic())
