"""`tf.TensorShape`: a tuple with TensorFlow's methods, of which parts may be unknown."""

import copy
import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from frontends import tf

UNKNOWN = tf.TensorShape(None)


def test_what_makes_a_shape():
    assert tf.TensorShape(5) == (5,)
    assert tf.TensorShape([]) == ()
    assert tf.TensorShape(np.array([2, 3])) == tf.TensorShape(jnp.array([2, 3])) == (2, 3)
    assert tf.TensorShape(np.int64(4)) == tf.TensorShape(jnp.int32(4)) == (4,)
    assert tf.TensorShape(tf.TensorShape([None, 2])) == (None, 2)
    assert tf.TensorShape(tf.TensorShape([3]).dims) == (3,)
    for wrong, error in ((["a"], TypeError), ([2.0], TypeError), ([-1], ValueError)):
        with pytest.raises(error, match=r"Dimension"):
            tf.TensorShape(wrong)


def test_it_is_a_tuple():
    shape = tf.TensorShape([2, 3])
    assert isinstance(shape, tuple)
    assert hash(shape) == hash((2, 3))
    assert {(2, 3): 1}[shape] == 1
    assert np.zeros(shape).shape == jnp.zeros(shape).shape == (2, 3)
    assert shape == (2, 3) == shape == [2, 3]
    assert shape != [2, 4]
    assert shape != "no shape"
    rows, columns = shape
    assert (rows, columns, shape[-1], len(shape)) == (2, 3, 3, 2)
    assert f"{shape}" == str(shape) == "(2, 3)"
    assert repr(shape) == "TensorShape([2, 3])"


def test_slices_and_sums_are_shapes():
    shape = tf.TensorShape([None, 28, 28])
    assert shape[1:].num_elements() == 784
    assert (shape[:-1] + [10]).as_list() == [None, 28, 10]  # noqa: RUF005
    for first in ([4], (4,), tf.TensorShape(4)):
        assert (first + shape[1:]).as_list() == [4, 28, 28]
    assert shape.concatenate(3) == (None, 28, 28, 3)
    assert shape.concatenate(UNKNOWN) is UNKNOWN


def test_what_is_known():
    shape = tf.TensorShape([None, 28])
    assert shape.as_list() == [None, 28]
    assert shape.rank == shape.ndims == 2
    assert [dimension.value for dimension in shape.dims] == [None, 28]
    assert int(shape.dims[1]) == shape.dims[1] == 28
    assert not shape.is_fully_defined()
    assert shape.num_elements() is None
    assert tf.TensorShape([2, 3]).is_fully_defined()
    assert tf.TensorShape([2, 3]).num_elements() == 6
    assert tf.TensorShape([]).num_elements() == 1
    with pytest.raises(ValueError, match=r"Shape \(None, 28\) is not fully defined"):
        shape.assert_is_fully_defined()


def test_an_unknown_rank():
    assert UNKNOWN.rank is UNKNOWN.ndims is UNKNOWN.dims is UNKNOWN.num_elements() is None
    assert not UNKNOWN.is_fully_defined()
    assert (str(UNKNOWN), repr(UNKNOWN)) == ("<unknown>", "TensorShape(None)")
    assert tf.TensorShape(None) == UNKNOWN
    assert UNKNOWN != ()
    assert UNKNOWN != ()
    assert UNKNOWN[0] is None
    assert UNKNOWN[1:3] == (None, None)
    assert UNKNOWN[1:] is UNKNOWN
    for use in (UNKNOWN.as_list, lambda: len(UNKNOWN), lambda: list(UNKNOWN)):
        with pytest.raises(ValueError, match="unknown"):
            use()


def test_compatible_shapes():
    shape, other = tf.TensorShape([None, 3]), tf.TensorShape([2, None])
    assert shape.is_compatible_with(other)
    assert shape.is_compatible_with([5, 3])
    assert shape.is_compatible_with(None)
    assert not shape.is_compatible_with([5, 4])
    assert not shape.is_compatible_with([3])
    assert shape.merge_with(other) == shape.merge_with(UNKNOWN).merge_with(other) == (2, 3)
    assert UNKNOWN.merge_with(shape) is shape
    assert shape.most_specific_compatible_shape([5, 4]) == (None, None)
    assert shape.most_specific_compatible_shape([5]) is UNKNOWN
    assert tf.TensorShape([2, 3]).is_subtype_of(shape)
    assert not shape.is_subtype_of(other)
    with pytest.raises(ValueError, match=r"Shapes \(None, 3\) and \(5, 4\) are not compatible"):
        shape.merge_with([5, 4])
    with pytest.raises(ValueError, match=r"Shapes \(None, 3\) and \(4,\) are incompatible"):
        shape.assert_is_compatible_with(4)


def test_ranks():
    shape = tf.TensorShape([None, 3])
    assert shape.with_rank(2) is shape.with_rank_at_least(1) is shape.with_rank_at_most(2) is shape
    assert UNKNOWN.with_rank(2) == (None, None)
    shape.assert_same_rank([1, 2])
    UNKNOWN.assert_has_rank(7)
    for use, text in (
        (lambda: shape.with_rank(3), "rank 3"),
        (lambda: shape.with_rank_at_least(3), "rank at least 3"),
        (lambda: shape.with_rank_at_most(1), "rank at most 1"),
        (lambda: shape.assert_has_rank(1), "rank 1"),
        (lambda: shape.assert_same_rank([1]), "the same rank"),
    ):
        with pytest.raises(ValueError, match=f"must have {text}"):
            use()


@pytest.mark.parametrize("shape", [tf.TensorShape([2, None]), UNKNOWN])
def test_copies(shape):
    for same in (copy.copy(shape), copy.deepcopy(shape), pickle.loads(pickle.dumps(shape))):  # noqa: S301
        assert type(same) is type(shape)
        assert same == shape
    leaves, structure = jax.tree.flatten(shape)
    assert jax.tree.unflatten(structure, leaves) == shape


def test_a_program_may_return_one():
    assert jax.jit(lambda x: x.shape)(jnp.ones((2, 3))) == (2, 3)
    assert jax.tree.map(lambda size: size + 1, tf.ones([2, 3]).shape) == (3, 4)


def test_sizes_have_a_value_as_in_tensorflow_1():
    shape = tf.ones([2, 3]).shape
    assert shape[-1].value == 3
    assert [size.value for size in shape] == [2, 3]
    assert tf.reshape(tf.ones(6), [-1, shape[1]]).shape == (2, 3)
    assert type(shape.as_list()[0]) is int
