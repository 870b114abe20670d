"""What fits a spec, and what is converted to it."""

import collections
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from frontends import tf
from frontends.tf.spec_fitting import Declaration

DECLARATION = Declaration("train", "its input_signature")
Pair = collections.namedtuple("Pair", "x y")


def fit(spec, value):
    return DECLARATION.fit(spec, value, "x")


@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        ("float32", [1, 2.5, np.float64(2.5), np.int64(3), np.float16(1)]),
        ("int32", [1, np.int64(3), np.uint8(3)]),
        ("int64", [1, np.int32(3)]),
        ("uint8", [255]),
        ("bool", [True, np.bool_(False)]),
        ("complex64", [1, 2.5, np.complex128(1j)]),
        ("bfloat16", [1, 2.5, np.float32(2.5)]),
    ],
)
def test_numbers_are_converted_where_nothing_is_cut_off(dtype, values):
    spec = tf.TensorSpec([], getattr(tf, dtype))
    held = tf.constant(0, spec.dtype).dtype if dtype != "bool" else np.dtype(bool)
    for value in values:
        fitted = fit(spec, value)
        assert fitted.dtype == held
        assert fitted == value


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        *[("int32", value) for value in (1.0, np.float32(1), True, 2**40, "text", None)],
        *[("float32", value) for value in (True, 1j, np.bool_(True), "text")],
        *[("bool", value) for value in (1, 0.0, np.int32(1))],
        ("uint8", 256),
        ("uint8", -1),
        ("int64", np.int64(2**40)),  # while 64-bit types are off
    ],
)
def test_what_would_be_cut_off_is_refused(dtype, value):
    with pytest.raises(
        TypeError, match=r"Can not cast .* to TensorSpec.*the argument 'x' of train"
    ):
        fit(tf.TensorSpec([], getattr(tf, dtype)), value)


def test_tensors_are_not_cast():
    x: Any = jnp.ones((2, 3))
    assert fit(tf.TensorSpec([None, 3], tf.float32), x) is x
    assert fit(tf.TensorSpec(None, tf.float32), x) is x
    with pytest.raises(TypeError, match=r"tf\.cast\(x, tf\.int32\)"):
        fit(tf.TensorSpec([None, 3], tf.int32), x)
    # 64-bit types are off: what a script calls int64 is held in int32.
    labels = tf.constant([1, 2], tf.int64)
    assert fit(tf.TensorSpec([2], tf.int64), labels) is labels


@pytest.mark.parametrize("shape", [[2], [3, 3], [2, 3, 1], []])
def test_shapes_are_checked(shape):
    with pytest.raises(
        TypeError, match=r"shape=\(2, 3\).*declare another: tf\.TensorSpec\(\[2, 3\]"
    ):
        fit(tf.TensorSpec(shape), jnp.ones((2, 3)))


def test_structures_are_checked_and_kept():
    one = tf.TensorSpec([], tf.float32)
    spec = {"a": (one, [one]), "b": Pair(one, one)}
    fitted = fit(spec, {"b": (1, 2), "a": [3, (4,)]})
    assert isinstance(fitted["b"], Pair)
    assert isinstance(fitted["a"], tuple)
    assert isinstance(fitted["a"][1], list)
    for wrong, where in [
        ({"a": [1, [2]]}, r"'x'.*"),
        ({"a": (1, [2, 3]), "b": (1, 2)}, r"'x\['a'\]\[1\]'|x\[.a.\]\[1\]"),
        ({"a": (1, 2), "b": (1, 2)}, r"x\[.a.\]\[1\]"),
        ((1, 2), "dict with the keys"),
    ]:
        with pytest.raises(TypeError, match=where):
            fit(spec, wrong)


def test_variables_stand_for_their_values():
    variable = tf.Variable([1.0, 2.0])
    assert fit(tf.TensorSpec([2], tf.float32), variable).tolist() == [1.0, 2.0]


def test_per_replica_values_are_checked_by_what_a_replica_has():
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    data = tf.data.Dataset.from_tensor_slices(np.zeros((8, 3), np.float32)).batch(4)
    dataset = strategy.experimental_distribute_dataset(data)
    batch = next(iter(dataset))
    assert fit(dataset.element_spec, batch) is batch
    assert fit(tf.TensorSpec([2, 3]), batch) is batch
    with pytest.raises(TypeError, match=r"shape=\(2, 3\)"):
        fit(tf.TensorSpec([4, 3]), batch)
    with pytest.raises(TypeError, match="PerReplicaSpec"):
        fit(dataset.element_spec, jnp.zeros((2, 3)))


def test_what_is_no_spec_has_to_be_the_same():
    assert fit("adam", "adam") == "adam"
    for wrong in ("sgd", None):
        with pytest.raises(TypeError, match="Can not cast"):
            fit("adam", wrong)


def test_mappings_keep_their_class():
    spec = collections.OrderedDict(b=tf.TensorSpec([]), a=[tf.TensorSpec([])])
    fitted = fit(spec, {"a": [1], "b": 2})
    assert type(fitted) is collections.OrderedDict
    assert list(fitted) == ["b", "a"]

    @tf.function(input_signature=[spec])
    def kind(x):
        return type(x) is collections.OrderedDict and x["b"]

    assert float(kind(spec.__class__(b=2.0, a=[1.0]))) == 2.0
    assert float(kind.get_concrete_function()(tf.constant(2.0), tf.constant(1.0))) == 2.0
