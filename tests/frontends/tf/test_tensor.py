"""`tf.Tensor` and `tf.is_tensor`: what TensorFlow 2.21 says of the same values."""

import functools

import jax
import numpy as np
import pytest

from frontends import tf

# Whether `tf.is_tensor` says so, and whether it is an instance of `tf.Tensor`.
VALUES = {
    "array": (lambda: tf.constant(1), True, True),
    "text": (lambda: tf.constant("a"), True, True),
    "texts": (lambda: tf.constant(["a", "b"]), True, True),
    "element": (lambda: next(iter(tf.data.Dataset.from_tensor_slices([1]))), True, True),
    "element of texts": (lambda: next(iter(tf.data.Dataset.from_tensor_slices(["a"]))), True, True),
    "batch": (lambda: next(iter(tf.data.Dataset.range(4).batch(2))), True, True),
    "variable": (lambda: tf.Variable(1.0), True, False),
    "ragged": (lambda: tf.ragged.constant([[1], [2, 3]]), True, False),
    "sparse": (lambda: tf.sparse.from_dense([1, 0]), True, False),
    "slices": (lambda: tf.IndexedSlices(tf.ones((1, 2)), tf.constant([0])), True, False),
    "NumPy's array": (lambda: np.ones(2), False, False),
    "NumPy's scalar": (lambda: np.float32(1), False, False),
    "number": (lambda: 1, False, False),
    "list": (lambda: [tf.constant(1)], False, False),
    "specification": (lambda: tf.TensorSpec((1,)), False, False),
    "TensorArray": (lambda: tf.TensorArray(tf.float32, 1), False, False),
    "shape": (lambda: tf.TensorShape([1]), False, False),
    "input of a model": (lambda: tf.keras.Input((3,)), False, False),
}


@pytest.mark.parametrize("name", VALUES)
def test_what_is_a_tensor(name):
    make, is_one, is_instance = VALUES[name]
    value = make()
    assert tf.is_tensor(value) is is_one
    assert isinstance(value, tf.Tensor) is is_instance


def test_in_programs_and_maps():
    seen = []

    def note(x):
        seen.append(isinstance(x, tf.Tensor))
        return x

    tf.function(note)(tf.constant(1))
    list(tf.data.Dataset.range(2).map(note))
    assert len(seen) > 1
    assert all(seen)


def test_it_is_a_class_as_others():
    @functools.singledispatch
    def kind(value):
        return "other"

    kind.register(tf.Tensor, lambda value: "tensor")
    assert (kind(tf.constant(1)), kind(tf.constant("a")), kind(1)) == ("tensor", "tensor", "other")
    assert isinstance(tf.constant("a"), tf.Tensor | None)
    assert tf.Tensor.reshape is jax.Array.reshape
    with pytest.raises(TypeError, match=r"write tf\.constant"):
        tf.Tensor(1)
