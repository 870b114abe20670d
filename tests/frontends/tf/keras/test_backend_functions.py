"""`tf.keras.backend`: Keras 2's functions, over Keras 3 and over `tf`."""

import os

os.environ.setdefault("KERAS_BACKEND", "jax")

import numpy as np
import pytest

from frontends import tf

K = tf.keras.backend
X = np.float32([[1, 2, 3], [4, 5, 6]])


@pytest.mark.parametrize(
    ("function", "arguments", "expected"),
    [
        ("abs", (-X,), X),
        ("argmax", (X,), [2, 2]),
        ("batch_flatten", (X[..., None],), X),
        ("cast", (X, "int32"), X),
        ("clip", (X, 2, 5), X.clip(2, 5)),
        ("concatenate", ([X, X],), np.concatenate([X, X], -1)),
        ("count_params", (X,), 6),
        ("dot", (X, X.T), X @ X.T),
        ("dtype", (X,), "float32"),
        ("equal", (X, X), np.ones((2, 3), bool)),
        ("eval", (X,), X),
        ("exp", (X,), np.exp(X)),
        ("gather", (X, np.array([1])), X[[1]]),
        ("in_top_k", (X, np.array([2, 0]), 1), [True, False]),
        ("int_shape", (X,), (2, 3)),
        ("l2_normalize", (X, -1), X / np.linalg.norm(X, axis=-1, keepdims=True)),
        ("max", (X,), 6),
        ("maximum", (X, 3 * np.ones_like(X)), X.clip(3)),
        ("mean", (X, -1), X.mean(-1)),
        ("mean", (X > 3,), 0.5),
        ("ndim", (X,), 2),
        ("one_hot", (np.array([0, 2]), 3), np.eye(3)[[0, 2]]),
        ("permute_dimensions", (X, (1, 0)), X.T),
        ("pow", (X, 2), X**2),
        ("repeat", (X, 2), np.repeat(X[:, None], 2, 1)),
        ("reshape", (X, (3, 2)), X.reshape(3, 2)),
        ("softmax", (np.zeros((1, 2), np.float32),), [[0.5, 0.5]]),
        ("sqrt", (X,), np.sqrt(X)),
        ("square", (X,), X**2),
        ("stack", ([X, X],), np.stack([X, X])),
        ("std", (X, 0), X.std(0)),
        ("sum", (X, 0), X.sum(0)),
        ("switch", (np.array([True, False]), X, -X), [[1, 2, 3], [-4, -5, -6]]),
        ("switch", (True, lambda: X, lambda: -X), X),
        ("tile", (X, (1, 2)), np.tile(X, (1, 2))),
        ("var", (X, 0), X.var(0)),
        ("zeros", ((2,),), [0, 0]),
        ("ones", ((2,),), [1, 1]),
    ],
)
def test_functions(function, arguments, expected):
    found = getattr(K, function)(*arguments)
    if isinstance(expected, str):
        assert found == expected
    else:
        np.testing.assert_allclose(np.asarray(K.get_value(found)), expected, rtol=1e-5)


@pytest.mark.parametrize(
    "function",
    ["random_normal", "random_uniform", "truncated_normal", "random_bernoulli"],
)
def test_random_numbers(function):
    assert getattr(K, function)((3, 2), seed=1).shape == (3, 2)
    assert K.dropout(X, 0.5).shape == X.shape


def test_variables():
    v = K.variable([1.0, 2.0])
    K.set_value(v, [3, 4])
    np.testing.assert_array_equal(K.get_value(v), [3, 4])
    K.batch_set_value([(v, [5, 6])])
    np.testing.assert_array_equal(K.batch_get_value([v])[0], [5, 6])
    K.update_add(v, [1.0, 1.0])
    K.update_sub(v, [2.0, 2.0])
    np.testing.assert_array_equal(v.numpy(), [4, 5])
    np.testing.assert_array_equal(K.update(v, [0.0, 1.0]).read_value(), [0, 1])
    assert K.get_value(1.5) == 1.5


def test_settings():
    assert K.floatx() == "float32"
    assert K.epsilon() == 1e-7
    assert K.image_data_format() == "channels_last"
    assert not K.is_sparse(X)
    K.clear_session()
