"""Serialized tensors: what the recorded cases (tests/golden, records) leave out."""

import random

import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

from frontends import tf
from frontends.tf._protos import MESSAGES
from frontends.tf.io.tensors import parse_tensor, serialize_tensor
from tests.frontends.tf.io.test_wire import mutated


@pytest.mark.parametrize(
    "value", [jnp.ones((2, 3)), tf.constant([1, 2]), np.ones(2, ml_dtypes.bfloat16)]
)
def test_arrays_come_back(value):
    text = serialize_tensor(value)
    assert isinstance(text.numpy(), bytes)
    array = np.asarray(value)
    np.testing.assert_array_equal(parse_tensor(text, array.dtype), array)


def test_a_variable():
    variable = tf.Variable([1.0, 2.0])
    assert parse_tensor(serialize_tensor(variable), tf.float32).tolist() == [1.0, 2.0]


def test_values_in_fields():
    message = MESSAGES["TensorProto"](dtype=19, half_val=[15360])  # 1.0
    message.tensor_shape.dim.add(size=2)
    assert parse_tensor(message.SerializeToString(), tf.float16).tolist() == [1.0, 1.0]
    message = MESSAGES["TensorProto"](dtype=8, scomplex_val=[1.0, 2.0])
    assert parse_tensor(message.SerializeToString(), tf.complex64) == 1 + 2j
    message = MESSAGES["TensorProto"](dtype=7, tensor_content=b"\x01\x02abc")
    message.tensor_shape.dim.add(size=2)
    assert parse_tensor(message.SerializeToString(), tf.string).tolist() == [b"a", b"bc"]


def test_a_shape_beyond_all_memory():
    message = MESSAGES["TensorProto"](dtype=1)
    message.tensor_shape.dim.add(size=2**40)
    with pytest.raises(ValueError, match="its shape says that it has"):
        parse_tensor(message.SerializeToString(), tf.float32)


def test_no_number_for_the_dtype():
    with pytest.raises(ValueError, match="cannot write"):
        serialize_tensor(np.array(["2020-01-01"], "M8[D]"))


@pytest.mark.parametrize(
    ("kind", "value"), [(tf.float32, np.ones((2, 3), np.float32)), (tf.string, ["ab", "c"])]
)
def test_mutated_tensors(kind, value):
    rng = random.Random(2)
    original = bytes(serialize_tensor(value))
    read = 0
    for _ in range(300):
        try:
            parse_tensor(mutated(original, rng), kind)
        except ValueError:
            continue
        read += 1
    assert 0 < read < 300


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([2**31 - 1], np.int32),
        ([-(2**31) - 1], np.int64),
        ([2**63], np.uint64),
        ([1.5], np.float32),
        ([1j], np.complex128),
        (np.ones(2, ">f4"), np.float32),
        (np.ones(2, ">i8"), np.int64),
    ],
)
def test_messages_hold_the_values_as_they_are(values, dtype):
    found = tf.make_ndarray(tf.make_tensor_proto(values))
    assert found.dtype == dtype
    assert found.tolist() == np.asarray(values).tolist()
    assert parse_tensor(serialize_tensor(values), dtype).tolist() == found.tolist()


@pytest.mark.parametrize(
    "values",
    [np.array(["2020-01-01"], "M8[D]"), np.timedelta64(1, "h"), np.zeros(1, [("a", "i4")])],
)
def test_messages_have_no_number_for_the_dtype(values):
    with pytest.raises(TypeError, match="make_tensor_proto: cannot write"):
        tf.make_tensor_proto(values)
