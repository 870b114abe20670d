"""`tf.TensorSpec`, and the pipeline's specs under its name."""

import jax.numpy as jnp
import numpy as np

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
