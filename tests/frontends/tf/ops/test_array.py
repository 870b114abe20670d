"""Functions about arrays, against NumPy; most cases are where TensorFlow's convention is another."""

import jax
import numpy as np
import pytest

from frontends import tf
from tests.frontends.tf.ops.comparing import same

X = np.random.RandomState(0).randn(3, 4).astype(np.float32)


I32 = np.int32


@pytest.mark.parametrize("mode", ["CONSTANT", "REFLECT", "symmetric"])
def test_pad(mode):
    same(tf.pad(X, [[1, 2], [0, 1]], mode), np.pad(X, [(1, 2), (0, 1)], mode.lower()))
    same(tf.pad(X, tf.constant([[1, 0], [0, 0]])), np.pad(X, [(1, 0), (0, 0)]))
    same(tf.pad([1], [[1, 0]], constant_values=9), np.array([9, 1], I32))


def test_nothing_is_compiled_for_arrays_that_grow(caplog):
    total = tf.zeros([1, 2])
    rows = [tf.constant(row) for row in np.arange(6, dtype=np.float32).reshape(3, 1, 2)]
    with jax.log_compiles(), caplog.at_level("DEBUG"):
        for row in rows:
            total = tf.concat([total, row], axis=0)
        pairs = tf.stack([total, total], axis=-1)
    assert "Compiling" not in caplog.text
    same(total, np.array([[0, 0], [0, 1], [2, 3], [4, 5]], np.float32))
    same(pairs, np.stack([total, total], axis=-1))


def test_what_is_joined_stays_on_its_device_and_has_a_gradient():
    device = jax.devices("cpu")[1]
    on_second = jax.device_put(np.ones(2, np.float32), device)
    assert tf.concat([on_second, on_second], axis=0).devices() == {device}
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.concat([x, 3 * x], axis=0))
    same(tape.gradient(y, x), np.array([4, 4], np.float32))


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


def test_no_gradient_flows_through_stop_gradient():
    assert jax.grad(lambda x: x * tf.stop_gradient(x))(3.0) == 3


def test_conventions_for_empty_and_single_arguments():
    same(tf.squeeze(X[None], axis=[]), X)
    same(tf.concat(X, 0), X)
    same(tf.repeat([1, 2], [2], axis=0), np.array([1, 1, 2, 2], I32))


def test_meshgrid():
    for options in ({}, {"indexing": "ij"}):
        expected = np.meshgrid([1, 2, 3], [4, 5], **options)
        found = tf.meshgrid([1, 2, 3], [4, 5], **options)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)


def test_a_shape_that_elements_do_not_fill_is_an_invalid_argument():
    for call in (tf.reshape, tf.function(tf.reshape)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="reshape"):
            call(tf.constant(X), [7, -1])
