"""Functions of numbers, against NumPy; most cases are where TensorFlow's convention is another."""

import jax
import numpy as np
import pytest

from frontends import tf
from tests.frontends.tf.ops.comparing import close

R = np.random.RandomState(0)


X, Y = (R.randn(3, 4).astype(np.float32) for _ in range(2))


V = np.array([-2.5, -1.5, -0.5, 0, 0.5, 1.5, 2.5], np.float32)


I = np.array([[3, 1, 2], [7, -8, -1]], np.int32)  # noqa: E741


@pytest.mark.parametrize(
    ("name", "function"),
    [
        *((name, getattr(np, name)) for name in ("abs", "square", "exp", "sin", "cos", "tanh")),
        *((name, getattr(np, name)) for name in ("sign", "floor", "ceil", "round", "negative")),
        *((f"math.{name}", getattr(np, name)) for name in ("expm1", "reciprocal")),
        ("sigmoid", lambda x: 1 / (1 + np.exp(-x))),
        ("math.softplus", lambda x: np.log1p(np.exp(x))),
        ("math.log_sigmoid", lambda x: -np.log1p(np.exp(-x))),
        ("math.is_nan", np.isnan),
        ("logical_not", np.logical_not),
    ],
)
def test_of_each_entry(name, function):
    values = V > 0 if name == "logical_not" else V + 0.25 if name == "math.reciprocal" else V
    alias = _find(name)
    close(alias(values), function(values))
    close(alias(values.tolist(), name="name"), function(values))
    assert alias.__doc__


@pytest.mark.parametrize("name", ["sqrt", "log", "math.log", "math.log1p", "math.rsqrt"])
def test_of_positive_entries(name):
    function = (lambda x: x**-0.5) if "rsqrt" in name else getattr(np, name.split(".")[-1])
    close(_find(name)(X * X + 1), function(X * X + 1))


@pytest.mark.parametrize(
    ("name", "function"),
    [
        *((name, getattr(np, name)) for name in ("add", "subtract", "multiply", "divide")),
        *((name, getattr(np, name)) for name in ("maximum", "minimum", "equal", "not_equal")),
        *((name, getattr(np, name)) for name in ("greater", "greater_equal", "less", "less_equal")),
        ("math.floormod", np.mod),
        ("math.mod", np.mod),
        ("math.floordiv", np.floor_divide),
        ("math.squared_difference", lambda x, y: (x - y) ** 2),
    ],
)
def test_of_two_arrays(name, function):
    close(_find(name)(X, Y), function(X, Y))
    close(_find(name)(x=X, y=2.0), function(X, np.float32(2)))
    assert _find(name)(tf.cast(X, tf.bfloat16), 2).dtype in (tf.bfloat16, tf.bool)


def _find(name):
    found = tf
    for part in name.split("."):
        found = getattr(found, part)
    return found


def test_round_is_half_to_even():
    np.testing.assert_array_equal(tf.round(V), [-2, -2, 0, 0, 0, 2, 2])


def test_means_of_integers_are_integers():
    close(tf.reduce_mean([1, 2, 4]), np.int32(2))
    close(tf.reduce_mean(I, axis=1), np.array([2, 0], np.int32))
    close(tf.reduce_mean([-1, -2, -4]), np.int32(-2))
    close(tf.reduce_mean([1.0, 2, 4]), np.float32(7 / 3))


def test_sums_keep_the_dtype():
    close(tf.reduce_sum(np.array([100, 100], np.int8)), np.int8(-56))
    close(tf.reduce_prod(np.array([100, 3], np.uint8)), np.uint8(44))
    close(tf.cumsum(np.array([1, 2], np.int8)), np.array([1, 3], np.int8))


AXES = [None, 0, -1, [0, 1], (1,), np.int64(1)]


@pytest.mark.parametrize(
    ("axis", "keepdims"),
    [
        *((axis, bool(index % 2)) for index, axis in enumerate(AXES)),
        *(
            pytest.param(axis, not index % 2, marks=pytest.mark.slow)
            for index, axis in enumerate(AXES)
        ),
    ],
)
def test_reductions(axis, keepdims):
    axes = tuple(axis) if isinstance(axis, list) else axis
    for name in ("sum", "mean", "max", "min", "prod"):
        close(
            getattr(tf, f"reduce_{name}")(X, axis, keepdims),
            getattr(np, name)(X, axis=axes, keepdims=keepdims),
        )
    options = {"axis": axis, "keepdims": keepdims}
    close(tf.reduce_any(X > 1, **options), (X > 1).any(axes, keepdims=keepdims))
    close(tf.reduce_all(X > -1, **options), (X > -1).all(axes, keepdims=keepdims))
    close(tf.math.reduce_std(X, **options), X.std(axes, keepdims=keepdims))
    close(tf.math.reduce_variance(X, **options), X.var(axes, keepdims=keepdims))
    close(
        tf.reduce_logsumexp(X, **options),
        np.log(np.exp(X).sum(axes, keepdims=keepdims)),
    )


def test_cumulative():
    close(tf.cumsum(X, exclusive=True), np.cumsum(X, 0) - X)
    backwards = np.cumsum(X[:, ::-1], 1)[:, ::-1]
    close(tf.cumsum(X, axis=1, reverse=True), backwards)
    close(tf.cumsum(X, 1, exclusive=True, reverse=True), backwards - X)
    close(tf.math.cumprod(X, axis=1), np.cumprod(X, 1))


def test_division_by_zero():
    close(tf.math.divide_no_nan([1.0, 0.0, 4.0], [0.0, 0.0, 2.0]), np.array([0, 0, 2], np.float32))
    assert jax.grad(lambda y: tf.math.divide_no_nan(1.0, y))(0.0) == 0
    product = tf.math.multiply_no_nan([np.nan, 2.0], [0.0, 3.0])
    close(product, np.array([0, 6], np.float32))


def test_sums_keep_small_numbers_and_diagonals_keep_infinities():
    assert tf.cumsum([1.0, 1e8], exclusive=True).tolist() == [0, 1]
    assert tf.cumsum([1e8, 1.0], exclusive=True, reverse=True).tolist() == [1, 0]
    assert tf.linalg.diag([np.inf, 1.0]).tolist() == [[np.inf, 0], [0, 1]]


def gradient(function, *points):
    return [float(part) for part in jax.grad(function, argnums=range(len(points)))(*points)]


def test_gradients_where_a_function_has_a_corner_are_those_of_tensorflow():
    assert jax.grad(tf.abs)(0.0) == 0
    assert gradient(tf.maximum, 1.0, 1.0) == gradient(tf.minimum, 1.0, 1.0) == [1, 0]
    assert gradient(tf.maximum, 1.0, 2.0) == gradient(tf.minimum, 2.0, 1.0) == [0, 1]
    for limit in (0.0, 6.0):
        assert jax.grad(lambda x: tf.clip_by_value(x, 0.0, 6.0))(limit) == 1
    assert jax.grad(lambda x: tf.clip_by_value(x, 0.0, 6.0))(7.0) == 0


def test_nan_stays():
    for pair in ((np.nan, 1.0), (1.0, np.nan)):
        assert np.isnan([tf.maximum(*pair), tf.minimum(*pair)]).all()
    assert np.isnan([tf.abs(np.nan), tf.clip_by_value(np.nan, 0, 1)]).all()
    close(tf.abs([-np.inf, -0.0, 2.0]), np.array([np.inf, 0, 2], np.float32))


@pytest.mark.parametrize(
    "name", ["sqrt", "math.rsqrt", "math.reciprocal", "norm", "math.reduce_std"]
)
@pytest.mark.parametrize("compiled", [False, True])
def test_a_mask_hides_an_infinite_gradient(name, compiled):
    def masked(x):
        return tf.where(False, _find(name)(x), 0.0)

    slope = jax.grad(masked)
    assert (jax.jit(slope) if compiled else slope)(0.0) == 0
    if name == "sqrt":
        with tf.GradientTape() as tape:
            x = tf.Variable([0.0, 4.0])
            y = tf.where(x > 0, tf.sqrt(x), 0.0)
        assert tape.gradient(y, x).numpy().tolist() == [0, 0.25]
        assert jax.grad(jax.grad(tf.sqrt))(1.0) == -0.25
        assert np.isinf(jax.grad(tf.sqrt)(0.0))
        close(tf.sqrt(4), np.float32(2))


def test_atan2_by_name():
    close(tf.atan2(y=X, x=Y), np.arctan2(X, Y))
    close(tf.math.atan2(X, Y), np.arctan2(X, Y))


def test_cumulative_products():
    close(tf.math.cumprod([2.0, 3.0, 4.0], exclusive=True), np.array([1, 2, 6], np.float32))
    close(tf.math.cumprod([2, 3, 4], 0, True, True), np.array([12, 4, 1], np.int32))


def test_booleans_are_not_summed_and_numbers_are_not_all_true():
    for name in ("sum", "mean", "max", "min", "prod"):
        with pytest.raises(TypeError, match=r"Expected numbers.*tf.cast\(x, tf.int32\)"):
            getattr(tf, f"reduce_{name}")([True, False])
    for function in (tf.reduce_all, tf.reduce_any):
        with pytest.raises(TypeError, match=r"Expected booleans.*tf.cast\(x, tf.bool\)"):
            function([1, 0])


def test_means_of_small_integers_do_not_overflow():
    close(tf.reduce_mean(np.full((2, 100), 250, np.uint8), 1), np.full(2, 250, np.uint8))
    close(tf.reduce_mean(np.full(100, -120, np.int8)), np.int8(-120))
    close(tf.reduce_mean(np.zeros((0, 2), np.int32), 0), np.zeros(2, np.int32))


def test_largest_and_smallest_of_nothing():
    """A replica may have no rows."""
    assert float(tf.reduce_max(tf.zeros((0, 3)))) == -np.inf
    assert tf.reduce_min(tf.zeros((0, 2)), axis=0).tolist() == [np.inf] * 2
    assert int(tf.reduce_max(tf.zeros((0,), tf.int32))) == np.iinfo(np.int32).min
    assert tf.reduce_max(tf.constant([[1, 3], [2, 0]]), axis=1, keepdims=True).tolist() == [
        [3],
        [2],
    ]


def test_count_nonzero():
    x = [[0, 1, 0], [1, 1, 0]]
    assert int(tf.math.count_nonzero(x)) == 3
    assert tf.math.count_nonzero(x, 0).numpy().tolist() == [1, 2, 0]
    assert tf.math.count_nonzero(x, 1, keepdims=True).numpy().tolist() == [[1], [2]]
    assert tf.math.count_nonzero(x, dtype=tf.float32).dtype == tf.float32
