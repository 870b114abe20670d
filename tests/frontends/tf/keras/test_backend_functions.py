"""`tf.keras.backend`: Keras 2's functions, over Keras 3 and over `tf`."""

import inspect

import numpy as np
import pytest

from frontends import tf

K = tf.keras.backend
X = np.float32([[1, 2, 3], [4, 5, 6]])
SEQUENCE = np.arange(12, dtype=np.float32).reshape(1, 4, 3)
IMAGE = np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1)
VOLUME = np.arange(8, dtype=np.float32).reshape(1, 2, 2, 2, 1)
POOLED = [[[[5], [7]], [[13], [15]]]]


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
        ("cast_to_floatx", ([1, 2],), np.float32([1, 2])),
        ("categorical_focal_crossentropy", (np.eye(2), np.full((2, 2), 0.5)), [0.0433217] * 2),
        ("conv1d", (SEQUENCE, np.ones((2, 3, 1)), 1, "causal"), [[[3], [15], [33], [51]]]),
        ("conv1d", (SEQUENCE, np.ones((2, 3, 1))), [[[15], [33], [51]]]),
        ("conv2d", (IMAGE, np.ones((2, 2, 1, 1)), (2, 2)), [[[[10], [18]], [[42], [50]]]]),
        ("conv3d", (VOLUME, np.ones((2, 2, 2, 1, 1))), [[[[[28]]]]]),
        ("depthwise_conv2d", (IMAGE, np.ones((4, 4, 1, 2))), [[[[120, 120]]]]),
        ("separable_conv2d", (IMAGE, np.ones((4, 4, 1, 1)), np.ones((1, 1, 1, 1))), [[[[120]]]]),
        ("foldl", (lambda total, x: total - x, X[0]), -4),
        ("foldl", (lambda total, x: total - x, X[0], 10.0), 4),
        ("foldr", (lambda total, x: total - 2 * x, X[0]), -3),
        ("foldr", (lambda total, x: total + x[0] * x[1], (X, X), np.zeros(3)), [17, 29, 45]),
        ("pool2d", (IMAGE, (2, 2), (2, 2)), POOLED),
        ("pool2d", (IMAGE, (4, 4), (1, 1), "valid", None, "avg"), [[[[7.5]]]]),
        ("pool3d", (VOLUME, (2, 2, 2)), [[[[[7]]]]]),
        ("repeat_elements", (X, 2, 0), X.repeat(2, 0)),
        ("resize_images", (IMAGE, 2, 1, "channels_last"), IMAGE.repeat(2, 1)),
        ("resize_volumes", (VOLUME, 1, 2, 3, "channels_last"), VOLUME.repeat(2, 2).repeat(3, 3)),
        ("softsign", (X,), X / (1 + X)),
        (
            "spatial_2d_padding",
            (IMAGE, ((1, 2), (0, 1))),
            np.pad(IMAGE, [(0, 0), (1, 2), (0, 1), (0, 0)]),
        ),
        (
            "spatial_2d_padding",
            (IMAGE, ((1, 1), (1, 1)), "channels_first"),
            np.pad(IMAGE, [(0, 0), (0, 0), (1, 1), (1, 1)]),
        ),
        ("spatial_3d_padding", (VOLUME,), np.pad(VOLUME, [(0, 0), (1, 1), (1, 1), (1, 1), (0, 0)])),
        ("temporal_padding", (SEQUENCE, (2, 0)), np.pad(SEQUENCE, [(0, 0), (2, 0), (0, 0)])),
        ("to_dense", (X,), X),
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


@pytest.mark.parametrize("function", ["random_normal_variable", "random_uniform_variable"])
def test_variables_of_random_numbers(function):
    variable = getattr(K, function)((3, 2), 0.0, 1.0, seed=1)
    assert variable.numpy().std() > 0
    K.update(variable, np.zeros((3, 2)))


def test_pooling_of_another_kind_is_an_error():
    with pytest.raises(ValueError, match="pool_mode must be 'max' or 'avg', but it is 'median'"):
        K.pool2d(IMAGE, (2, 2), pool_mode="median")


@pytest.mark.parametrize(
    ("function", "hint"),
    [("gradients", "GradientTape"), ("rnn", "layers.RNN")],
)
def test_what_needs_tensorflow_says_what_to_use(function, hint):
    assert function not in dir(K)
    with pytest.raises(AttributeError, match=hint):
        getattr(K, function)


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


def test_drawing_functions_and_convolutions_tell_their_parameters():
    assert K.random_uniform((2,), dtype="int32").shape == (2,)
    for name in ("random_normal", "random_uniform", "truncated_normal"):
        parameters = inspect.signature(getattr(K, name)).parameters
        assert [*parameters][-2:] == ["dtype", "seed"]
        assert len(parameters) == 5
    assert "dilation_rate" in inspect.signature(K.separable_conv2d).parameters
