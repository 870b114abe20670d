"""Functions of `tf` in map functions that run on elements: NumPy computes what JAX computes elsewhere."""

import jax
import numpy as np
import pytest

from frontends import tf
from frontends.tf.data.host_tensors import HostTensor, as_tensors
from frontends.tf.data.tracing import map_on_host
from frontends.tf.ops.on_elements import _FUNCTIONS

X = np.array([[1.5, -2.0, 0.0], [4.0, 0.25, -1.0]], np.float32)
Y = np.array([[2.0, 1.0, -3.0], [0.5, 4.0, 2.0]], np.float32)
COUNTS = np.array([[3, 0, 2], [1, 2, 1]], np.int32)
CALLS = {
    **dict.fromkeys(("add", "subtract", "multiply", "divide", "truediv", "maximum"), (X, Y)),
    **dict.fromkeys(("minimum", "equal", "not_equal", "less", "less_equal", "greater"), (X, Y)),
    **dict.fromkeys(("greater_equal", "floordiv", "floormod", "mod"), (X, Y)),
    **dict.fromkeys(("abs", "ceil", "cos", "exp", "floor", "negative", "round", "sign"), (X,)),
    **dict.fromkeys(("sin", "square", "tanh", "transpose", "reduce_max", "reduce_min"), (X,)),
    **dict.fromkeys(("reduce_prod", "reduce_std", "reduce_variance", "shape", "size"), (X,)),
    **dict.fromkeys(("rank", "identity", "stop_gradient", "ones_like", "zeros_like"), (X,)),
    **{name: (np.abs(X),) for name in ("sqrt", "log1p")},
    **dict.fromkeys(("argmax", "argmin", "reduce_mean", "reduce_sum", "expand_dims"), (X, 1)),
    **dict.fromkeys(("logical_and", "logical_or"), (X > 0, Y > 0)),
    "clip_by_value": (X, -1, 1.0),
    "concat": ([X, Y], 1),
    "convert_to_tensor": (X,),
    "ensure_shape": (X, [None, 3]),
    "gather": (X, [2, 0], None, 1),
    "log": (np.abs(Y),),
    "logical_not": (X > 0,),
    "one_hot": (COUNTS, 3),
    "ones": ([2, 3],),
    "pad": (X, [[1, 0], [0, 2]]),
    "pow": (X, 2),
    "reduce_all": (X > -5, 0),
    "reduce_any": (X > 2, 0, True),
    "reshape": (X, [-1, 2]),
    "reverse": (X, [1]),
    "roll": (X, [1], [0]),
    "slice": (X, [0, 1], [-1, 2]),
    "split": (X, 3, 1),
    "squeeze": (X[:, None],),
    "stack": ([X, Y], 1),
    "tile": (X, [1, 2]),
    "unstack": (X,),
    "where": (X > 0, X, Y),
    "zeros": ([2],),
}


def function_of(name):
    return getattr(tf, name, None) or getattr(tf.math, name)


@pytest.mark.parametrize("name", sorted(_FUNCTIONS))
def test_numpy_computes_what_jax_computes(name):
    function, args = function_of(name), CALLS[name]
    expected = function(*args)
    with map_on_host(traced=False):
        found = function(*as_tensors(args))
    several = isinstance(found, list)
    for one, other in zip(*((found, expected) if several else ([found], [expected])), strict=True):
        assert not isinstance(one, jax.Array)
        # Integers of 64 bits become 32 where the map returns them.
        assert np.dtype(one.dtype).kind == np.dtype(other.dtype).kind
        np.testing.assert_allclose(one, other, rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("add", (COUNTS, X)),
        ("multiply", (COUNTS, 2.5)),
        ("divide", (COUNTS, COUNTS)),
        ("reduce_mean", (COUNTS,)),
        ("where", (X > 0,)),
    ],
)
def test_jax_computes_where_numpy_would_give_something_else(name, args):
    function = function_of(name)
    expected = function(*args)
    with map_on_host(traced=False):
        found = function(*as_tensors(args))
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


def test_errors_are_those_of_the_function():
    with map_on_host(traced=False), pytest.raises(ValueError, match=r"tf\.reshape"):
        tf.reshape(as_tensors(X), [4, 4])


def test_operators_take_arrays_of_jax_and_change_no_other_name():
    with map_on_host(traced=False):
        x = as_tensors(X.copy())
        before, limit = x, tf.constant(Y)
        assert type(x - limit) is type(x < limit) is HostTensor
        x += limit
    assert before.tolist() == X.tolist()
    assert x.tolist() == (X + Y).tolist()
    x += 1.0
    assert before is not x


def test_a_map_that_parses_and_computes_gives_what_tensorflow_gives():
    def decode(text):
        image = tf.reshape(tf.io.decode_raw(text, tf.uint8), [2, 2])
        return tf.cast(image, tf.float32) / 255.0, tf.cast(image[0, 0], tf.int64)

    texts = tf.data.Dataset.from_tensor_slices([b"\x00\x33\x66\xff", b"\x01\x02\x03\x04"])
    ((images, first),) = texts.map(decode).batch(2).as_numpy_iterator()
    assert (images.dtype, first.dtype) == (np.float32, np.int32)
    np.testing.assert_allclose(images[0] * 255, [[0, 51], [102, 255]])


@pytest.mark.parametrize(
    ("compute", "expected"),
    [
        (lambda x: tf.add(x, 300), [45, 49]),
        (lambda x: tf.minimum(x, 256), [0, 0]),
        (lambda x: tf.equal(x, 261), [False, True]),
        (lambda x: tf.reduce_sum(tf.one_hot(x, 300), -1), [1, 1]),
    ],
)
def test_numbers_that_small_dtypes_do_not_hold(compute, expected):
    x = np.array([1, 5], np.uint8)
    assert np.asarray(compute(tf.constant(x))).tolist() == expected
    mapped = tf.data.Dataset.from_tensors(x).map(compute)
    assert next(iter(mapped)).tolist() == expected
