"""Activations, losses and convolutions, against NumPy and numbers that TensorFlow 2.21 gave."""

import functools

import jax
import numpy as np
import pytest

from frontends import tf

R = np.random.RandomState(0)
X, Y = (R.randn(3, 4).astype(np.float32) for _ in range(2))
IMAGE = np.arange(12, dtype=np.float32).reshape(1, 3, 4, 1)


def close(actual, expected):
    assert np.shape(actual) == np.shape(expected)
    np.testing.assert_allclose(np.asarray(actual), expected, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        ("relu", {}, [0, 0.5, 2]),
        ("relu6", {}, [0, 0.5, 2]),
        ("leaky_relu", {}, [-0.2, 0.5, 2]),
        ("leaky_relu", {"alpha": 0.1}, [-0.1, 0.5, 2]),
        ("elu", {}, [np.expm1(-1), 0.5, 2]),
        ("selu", {}, [-1.1113307, 0.5253505, 2.1014020]),
        ("gelu", {}, [-0.15865526, 0.34573123, 1.95449972]),
        ("gelu", {"approximate": True}, [-0.15880799, 0.34571400, 1.95459777]),
        ("silu", {}, [-0.26894143, 0.31122968, 1.76159418]),
        ("swish", {"beta": 2.0}, [-0.11920292, 0.36552927, 1.96402752]),
        ("softplus", {}, [0.31326169, 0.97407699, 2.12692809]),
        ("sigmoid", {}, [0.26894143, 0.62245935, 0.88079709]),
        ("tanh", {}, np.tanh([-1, 0.5, 2])),
    ],
)
def test_activations(name, options, expected):
    close(getattr(tf.nn, name)([-1.0, 0.5, 2.0], **options), np.asarray(expected))
    if name not in ("sigmoid", "tanh"):
        close(getattr(tf.nn, name)(features=[-1.0, 0.5, 2.0], **options), np.asarray(expected))


def softmax(x, axis=-1):
    return np.exp(x) / np.exp(x).sum(axis, keepdims=True)


def test_softmax():
    close(tf.nn.softmax(X), softmax(X))
    close(tf.nn.softmax(logits=X, axis=0), softmax(X, 0))
    close(tf.nn.log_softmax(X), np.log(softmax(X)))


def test_losses_of_logits():
    labels = softmax(X)
    close(
        tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=Y),
        -(labels * np.log(softmax(Y))).sum(-1),
    )
    close(
        tf.nn.sparse_softmax_cross_entropy_with_logits([1, 0, 3], Y),
        -np.log(softmax(Y))[[0, 1, 2], [1, 0, 3]],
    )
    assert np.isnan(tf.nn.sparse_softmax_cross_entropy_with_logits([4], Y[:1])).all()
    close(
        tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=Y),
        np.log1p(np.exp(-Y)) + (1 - labels) * Y,
    )
    assert tf.nn.sigmoid_cross_entropy_with_logits([1.0], [1000.0]) == 0
    close(tf.nn.l2_loss(X), (X**2).sum() / 2)


def test_labels_of_classes_are_whole_numbers_one_for_each_row():
    with pytest.raises(TypeError, match=r"but are float32\. Write tf\.cast\(labels, tf\.int32\)"):
        tf.nn.sparse_softmax_cross_entropy_with_logits([1.0, 0.0, 3.0], Y)
    for labels in ([[1], [0], [3]], [1]):
        with pytest.raises(ValueError, match=r"must have the shape \(3,\).*tf\.squeeze"):
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels, Y)


def test_a_gradient_of_a_loss():
    gradient = jax.grad(
        lambda y: tf.nn.sparse_softmax_cross_entropy_with_logits([1, 0, 3], y).sum()
    )(Y)
    close(gradient, softmax(Y) - np.eye(4)[[1, 0, 3]])


# The numbers are TensorFlow's.
@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("conv2d", (np.ones((2, 2, 1, 1), np.float32), 2, "SAME"), [10, 18, 17, 21]),
        ("conv2d", (np.ones((2, 2, 1, 1), np.float32), [1, 2, 2, 1], "VALID"), [10, 18]),
        ("max_pool2d", (2, 2, "SAME"), [5, 7, 9, 11]),
        ("max_pool2d", ([1, 2, 2, 1], [2, 2], "VALID"), [5, 7]),
        ("avg_pool2d", (2, 2, "SAME"), [2.5, 4.5, 8.5, 10.5]),
    ],
)
def test_windows(name, arguments, expected):
    expected = np.reshape(expected, (1, -1, 2, 1))
    close(getattr(tf.nn, name)(IMAGE, *arguments), expected)
    if isinstance(arguments[1], int):
        channels_first = getattr(tf.nn, name)(
            IMAGE.transpose(0, 3, 1, 2), *arguments, data_format="NCHW"
        )
        close(channels_first, expected.transpose(0, 3, 1, 2))


def test_explicit_padding_and_dilation():
    pads = [[0, 0], [1, 0], [0, 1], [0, 0]]
    padded = np.pad(IMAGE, pads)
    kernel = R.randn(2, 2, 1, 3).astype(np.float32)
    close(tf.nn.conv2d(IMAGE, kernel, 1, pads), tf.nn.conv2d(padded, kernel, 1, "VALID"))
    wide = np.zeros((3, 3, 1, 3), np.float32)
    wide[::2, ::2] = kernel
    close(tf.nn.conv2d(IMAGE, kernel, 1, "SAME", dilations=2), tf.nn.conv2d(IMAGE, wide, 1, "SAME"))
    close(tf.nn.max_pool(IMAGE, 2, 1, pads), tf.nn.max_pool(padded, 2, 1, "VALID"))
    integers = tf.nn.max_pool2d(IMAGE.astype(np.int32), 2, 2, "SAME")
    assert integers.dtype == tf.int32


def test_normalization():
    mean, variance = tf.nn.moments(X, axes=[0])
    close(mean, X.mean(0))
    close(variance, X.var(0))
    assert tf.nn.moments(X, [0, 1], keepdims=True)[0].shape == (1, 1)
    normal = (X - X.mean(0)) / np.sqrt(X.var(0) + 1e-3)
    close(tf.nn.batch_normalization(X, mean, variance, None, None, 1e-3), normal)
    close(tf.nn.batch_normalization(X, mean, variance, 1.0, 2.0, 1e-3), normal * 2 + 1)
    close(tf.nn.l2_normalize(X, axis=0), X / np.linalg.norm(X, axis=0))


def test_tables():
    close(tf.nn.bias_add(X, [1.0, 2, 3, 4]), X + np.arange(1, 5))
    nchw = np.zeros((1, 2, 3, 4), np.float32)
    close(
        tf.nn.bias_add(nchw, [1.0, 2.0], data_format="NCHW"),
        nchw + np.array([1, 2]).reshape(2, 1, 1),
    )
    close(tf.nn.embedding_lookup(X, [[0, 2]]), X[[[0, 2]]])
    rows = X[[2]]
    close(
        tf.nn.embedding_lookup(X, [2], max_norm=0.5),
        rows * 0.5 / max(np.linalg.norm(rows), 0.5),
    )


def test_gradients_at_zero_are_those_of_tensorflow():
    assert jax.grad(lambda x: tf.nn.leaky_relu(x, 0.1))(0.0) == np.float32(0.1)
    assert jax.grad(tf.nn.selu)(0.0) == np.float32(1.0507009873554805)
    for label in (0.0, 1.0):
        cross_entropy = lambda x, y=label: tf.nn.sigmoid_cross_entropy_with_logits(y, x)  # noqa: E731
        assert jax.grad(cross_entropy)(0.0) == 0.5 - label  # what a layer of zeros starts with


def test_labels_that_do_not_add_up_to_one():
    labels = np.array([[0, 0, 0, 0], [0, 2, 0, 0], [0, 1, 0, 0]], np.float32)
    loss, pull = jax.vjp(lambda y: tf.nn.softmax_cross_entropy_with_logits(labels, y), Y)
    close(loss, -(labels * np.log(softmax(Y))).sum(-1))
    close(pull(np.ones(3, np.float32))[0], softmax(Y) - labels)  # as TensorFlow's


def test_labels_of_another_shape_are_refused():
    with pytest.raises(ValueError, match=r"\(3, 1\) and \(3,\)"):
        tf.nn.sigmoid_cross_entropy_with_logits(labels=[0.0, 1.0, 1.0], logits=X[:, :1])


def test_normal_values_keep_their_dtype():
    mean, variance = tf.nn.moments(X, [0])
    normal = tf.nn.batch_normalization(tf.cast(X, tf.bfloat16), mean, variance, None, None, 1e-3)
    assert normal.dtype == tf.bfloat16
    np.testing.assert_allclose(normal.astype(np.float32), (X - mean) / X.std(0), atol=0.05)


def test_rows_of_a_table():
    close(tf.nn.embedding_lookup([X], [0, 2]), X[[0, 2]])
    with pytest.raises(ValueError, match="expected one table, got 2"):
        tf.nn.embedding_lookup([X, Y], [0])
    slope = jax.grad(lambda table: tf.nn.embedding_lookup(table, [0], max_norm=1.0).sum())
    close(slope(0 * X)[0], np.ones(4))  # a row of zeros has a gradient


def test_depth_and_space():
    x = np.arange(16, dtype=np.float32).reshape(1, 2, 2, 4)
    space = tf.nn.depth_to_space(x, 2)
    expected = [[0, 1, 4, 5], [2, 3, 6, 7], [8, 9, 12, 13], [10, 11, 14, 15]]
    np.testing.assert_array_equal(space[0, ..., 0], expected)
    np.testing.assert_array_equal(tf.nn.space_to_depth(space, 2), x)
    first = tf.nn.depth_to_space(x.transpose(0, 3, 1, 2), 2, data_format="NCHW")
    np.testing.assert_array_equal(first[0, 0], expected)


def test_dropout_may_have_a_rate_that_only_the_program_knows():
    drop = tf.function(lambda x, rate: tf.nn.dropout(x, rate))
    x = tf.ones([200])
    assert set(np.asarray(drop(x, tf.constant(0.5))).tolist()) == {0, 2}
    assert set(np.asarray(drop(x, tf.constant(0.0))).tolist()) == {1}
    kept = tf.function(lambda x, share: tf.compat.v1.nn.dropout(x, share))(x, tf.constant(0.25))
    assert set(np.asarray(kept).tolist()) == {0, 4}
    assert drop(tf.ones([8], tf.bfloat16), tf.constant(0.5)).dtype == tf.bfloat16
    with pytest.raises(ValueError, match=r"range \[0, 1\)"):
        tf.nn.dropout(x, tf.constant(1.0))


@pytest.mark.parametrize("noise_shape", [None, [None, 1]])
def test_dropout_of_any_number_of_rows_is_exported(noise_shape):
    @jax.jit
    def drop(x, seed):
        sampler = functools.partial(tf.random.stateless_uniform, seed=seed)
        return tf.nn.experimental.general_dropout(x, 0.5, sampler, noise_shape)

    rows = jax.ShapeDtypeStruct(jax.export.symbolic_shape("rows, 3"), np.float32)
    seed = jax.ShapeDtypeStruct((2,), np.int32)
    exported = jax.export.export(drop)(rows, seed)
    assert exported.call(np.ones([5, 3], np.float32), np.array([1, 2], np.int32)).shape == (5, 3)
