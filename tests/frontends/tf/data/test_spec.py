"""`tf.TensorSpec`, and the pipeline's specs under its name."""

import jax.numpy as jnp
import numpy as np
import pytest

from frontends import tf
from frontends.tf.data.spec import DatasetSpec, TensorSpec, declared_spec, tensor_specs
from spmd.input.pipeline import ArraySpec


def test_tensor_spec():
    spec = TensorSpec([None, 2], jnp.float32, "x")
    assert spec == TensorSpec((None, 2), np.float32, "x")
    assert repr(spec) == "TensorSpec(shape=(None, 2), dtype=float32, name='x')"
    assert hash(spec) == hash(TensorSpec((None, 2), "float32", "x"))
    assert TensorSpec(None, str).shape is None


def test_a_pipelines_specs_get_tensorflows_name():
    nested = DatasetSpec(TensorSpec(()))
    found = tensor_specs({"x": ArraySpec((None,), np.dtype(np.int64)), "y": nested})
    assert found == {"x": TensorSpec((None,), np.int64), "y": nested}


def test_both_ways_to_declare_an_element_say_the_same():
    new = declared_spec((TensorSpec((2,), np.int32), TensorSpec(())), None, None)
    assert new == declared_spec(None, (np.int32, np.float32), ((2,), ()))
    assert new == (ArraySpec((2,), np.dtype(np.int32)), ArraySpec((), np.dtype(np.float32)))
    assert declared_spec(None, None, None) is None


def test_a_spec_is_compatible_with_arrays():
    spec = TensorSpec.from_tensor(jnp.ones((2, 3)), "x")
    assert spec == TensorSpec((2, 3), np.float32, "x")
    assert TensorSpec([None, 3]).is_compatible_with(spec)
    assert not TensorSpec([None, 4]).is_compatible_with(spec)
    assert not TensorSpec([None, 3], np.int32).is_compatible_with(jnp.ones((2, 3)))


def test_texts_have_tensorflows_dtype():
    spec = tf.data.Dataset.from_tensor_slices(["abc", "d"]).element_spec
    assert spec.dtype == tf.string
    assert spec.dtype.name == "string"
    assert spec == tf.TensorSpec([], tf.string)
    assert repr(spec) == "TensorSpec(shape=(), dtype=string, name=None)"
    objects = tf.data.Dataset.from_tensor_slices(["abc"]).map(tf.strings.upper).element_spec
    assert objects.dtype == tf.string
    assert tf.TensorSpec([2]).dtype == tf.float32 == np.float32
    assert tf.TensorSpec([2]).dtype.is_floating


def slices(*args):
    return tf.data.Dataset.from_tensor_slices(*args)


RAGGED = tf.ragged.constant([[1, 2], [3]])


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: slices(RAGGED), tf.RaggedTensorSpec([None], tf.int32, 0)),
        (lambda: slices(RAGGED).batch(2), tf.RaggedTensorSpec([None, None], tf.int32, 1)),
        (lambda: slices(RAGGED).batch(2, True), tf.RaggedTensorSpec([2, None], tf.int32, 1)),
        (
            lambda: slices(RAGGED).batch(2).batch(1),
            tf.RaggedTensorSpec([None, None, None], tf.int32, 2),
        ),
        (lambda: slices(RAGGED).batch(2).unbatch(), tf.RaggedTensorSpec([None], tf.int32, 0)),
        (
            lambda: slices(["a b", "c"]).batch(2).map(tf.strings.split),
            tf.RaggedTensorSpec([None, None], tf.string, 1),
        ),
        (
            lambda: tf.data.Dataset.range(3).map(lambda i: tf.range(i)).ragged_batch(2),
            tf.RaggedTensorSpec([None, None], tf.int32, 1),
        ),
        (
            lambda: slices(tf.sparse.from_dense([[1, 0], [0, 3]])),
            tf.SparseTensorSpec([2], tf.int32),
        ),
        (
            lambda: slices(tf.sparse.from_dense([[1, 0], [0, 3]])).batch(2),
            tf.SparseTensorSpec([None, 2], tf.int32),
        ),
        (
            lambda: tf.data.Dataset.from_generator(
                lambda: iter([RAGGED]), output_signature=tf.RaggedTensorSpec([None, None], tf.int32)
            ),
            tf.RaggedTensorSpec([None, None], tf.int32, 1),
        ),
        (
            lambda: slices(RAGGED).concatenate(slices(RAGGED)),
            tf.RaggedTensorSpec([None], tf.int32, 0),
        ),
    ],
)
def test_ragged_and_sparse_elements_have_specs_of_their_own(make, expected):
    found = make().element_spec
    assert found == expected
    assert repr(found) == repr(expected)
    next(iter(make()))


def test_specs_of_ragged_elements_stand_beside_others():
    dataset = slices({"a": RAGGED, "b": [1, 2]}).batch(2)
    assert dataset.element_spec == {
        "a": tf.RaggedTensorSpec([None, None], tf.int32, 1),
        "b": tf.TensorSpec([None], tf.int32),
    }
    assert repr(dataset.element_spec["a"]) == (
        "RaggedTensorSpec(TensorShape([None, None]), tf.int32, 1, tf.int64)"
    )
    assert dataset.element_spec["a"].value_type is tf.RaggedTensor
    mixed = slices(RAGGED).concatenate(slices(tf.ragged.constant([[1], [2]])).batch(2).unbatch())
    assert mixed.element_spec == tf.RaggedTensorSpec([None], tf.int32, 0)
