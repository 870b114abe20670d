"""Dtypes that JAX and NumPy take for their own, with TensorFlow's attributes."""

import copy
import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from frontends import tf

NARROW = {"int64": "int32", "float64": "float32", "complex128": "complex64", "uint64": "uint32"}
NUMBERS = (
    *("bool", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
)


@pytest.mark.parametrize("name", NUMBERS)
def test_jax_and_numpy_take_them(name):
    dtype = getattr(tf, name)
    assert getattr(tf.dtypes, name) is dtype
    assert isinstance(dtype, tf.DType)
    assert np.zeros(1, dtype).dtype == dtype
    assert dtype == np.zeros(1, dtype).dtype
    assert dtype == name
    assert dtype == dtype.as_numpy_dtype
    array = tf.cast([0, 1], dtype)
    assert array.dtype == NARROW.get(name, name)
    assert jnp.zeros(1, NARROW.get(name, dtype)).dtype == NARROW.get(name, dtype)
    assert {dtype: 1}[np.dtype(name)] == 1
    assert copy.copy(dtype) == pickle.loads(pickle.dumps(dtype)) == dtype  # noqa: S301
    assert repr(dtype) == f"tf.{name}"
    assert tf.as_dtype(name) == tf.as_dtype(np.dtype(dtype)) == tf.as_dtype(dtype) == dtype


def test_jax_functions_take_them():
    x = jnp.ones(2, tf.bfloat16)
    assert x.dtype == tf.bfloat16
    assert x.astype(tf.float32).dtype == tf.float32
    assert jax.lax.convert_element_type(x, tf.int32).dtype == tf.int32
    assert jax.ShapeDtypeStruct((), tf.float16).dtype == tf.float16
    assert jax.random.normal(jax.random.key(0), (1,), tf.float32).dtype == tf.float32
    assert jnp.result_type(tf.bfloat16, tf.float32) == tf.float32
    assert jnp.issubdtype(tf.bfloat16, jnp.floating)
    assert x.dtype in (tf.float16, tf.bfloat16)


def test_attributes():
    assert tf.float32.max == np.finfo(np.float32).max
    assert tf.float32.min == np.finfo(np.float32).min
    assert tf.bfloat16.is_floating
    assert tf.bfloat16.max > 1e38
    assert (tf.int8.min, tf.int8.max, tf.int8.size) == (-128, 127, 1)
    assert tf.int32.is_integer
    assert not tf.int32.is_floating
    assert tf.bool.is_bool
    assert tf.complex64.is_complex
    assert tf.string.name == "string"
    assert tf.as_dtype("string") == tf.string
    assert tf.half == tf.float16
    assert tf.float32 != "no dtype"
    assert tf.float32 != tf.float16
    assert tf.TensorSpec([None, 2], tf.int32).dtype == tf.int32
    assert tf.TensorSpec([], tf.string).dtype.kind == "U"


def test_cast_cuts_fractions_off():
    np.testing.assert_array_equal(tf.cast([-1.7, 1.7], tf.int64), [-1, 1])
    np.testing.assert_array_equal(tf.dtypes.cast([0.0, -0.5], tf.bool), [False, True])
    assert tf.cast(3, dtype=tf.float32).dtype == tf.float32


def test_more_attributes():
    assert tf.uint8.is_unsigned
    assert not tf.int8.is_unsigned
    assert tf.complex64.real_dtype is tf.float32.real_dtype is tf.float32.base_dtype is tf.float32
    assert tf.complex64.is_numeric
    assert not tf.bool.is_numeric
    assert tf.float32.is_compatible_with("float32")
    assert not tf.float32.is_compatible_with(tf.float16)
    assert tf.float32.is_numpy_compatible
    assert not tf.float32.is_quantized
    assert str(tf.float32) == str(tf.ones(1).dtype) == "float32"
    assert tf.float64 != None  # noqa: E711 (None is float64 to NumPy)
    assert (tf.float32.kind, tf.float32.itemsize) == ("f", 4)
    for of_an_array in ("shape", "ndim", "missing"):
        assert not hasattr(tf.float32, of_an_array)


def test_a_dtype_is_one_object():
    assert (
        tf.as_dtype("float32") is tf.as_dtype(np.float32) is tf.as_dtype(tf.float32) is tf.float32
    )
    assert tf.half is tf.float16
    assert tf.as_dtype("string") is tf.string
    assert copy.deepcopy(tf.bfloat16) is pickle.loads(pickle.dumps(tf.bfloat16)) is tf.bfloat16  # noqa: S301


def test_numpy_classes_are_dtypes():
    assert tf.as_dtype(np.int64).name == "int64"
    assert tf.as_dtype(float) == tf.float32  # as in TensorFlow
    assert tf.cast(1.7, np.int8).dtype == tf.constant(1, np.int8).dtype == np.int8


LARGE = np.array([5_000_000_000, 1])


@pytest.mark.parametrize("large", [LARGE, LARGE.astype(np.uint64), LARGE.tolist(), LARGE[0]])
def test_large_integers_become_floats_as_they_are(large):
    for dtype in (tf.float32, tf.float64):
        np.testing.assert_array_equal(tf.cast(large, dtype), np.asarray(large, np.float32))


def test_large_integers_are_cut_to_32_bits_on_request_alone():
    assert tf.cast(LARGE, tf.int32).tolist() == LARGE.astype(np.int32).tolist()  # as in TensorFlow
    for lose in (
        lambda: tf.cast(LARGE, tf.int64),
        lambda: tf.constant(LARGE),
        lambda: tf.constant(LARGE, tf.int64),
        lambda: tf.convert_to_tensor(LARGE.astype(np.uint64)),
        lambda: tf.reduce_sum(LARGE),
    ):
        with pytest.raises(OverflowError, match=r"do not fit in u?int32.*jax_enable_x64"):
            lose()
    assert tf.constant(LARGE % 7, tf.int64).tolist() == (LARGE % 7).tolist()
    with jax.enable_x64(True):
        assert tf.cast(LARGE, tf.int64).tolist() == tf.constant(LARGE).tolist() == LARGE.tolist()


def test_float_is_float32_and_truth_has_no_limits():
    assert tf.as_dtype("float") is tf.float32
    with pytest.raises(TypeError, match=r"tf\.bool has no min"):
        _ = tf.bool.min


def test_tensorflows_numbers_of_dtypes():
    names = {1: "float32", 3: "int32", 9: "int64", 10: "bool", 14: "bfloat16", 19: "float16"}
    assert {number: tf.as_dtype(number).name for number in names} == names
    assert tf.zeros(1, 1).dtype == tf.float32
    with pytest.raises(TypeError):
        tf.as_dtype(0)


def test_texts_of_a_dataset_have_the_same_dtype_each_time():
    assert tf.as_dtype(np.dtype(object)) is tf.as_dtype(np.dtype(object))
    assert tf.as_dtype(np.dtype(object)).name == "string"


def test_limits_are_computed_once():
    assert tf.float32.max is tf.float32.max
    with pytest.raises(TypeError, match="string has no max"):
        tf.string.max  # noqa: B018
