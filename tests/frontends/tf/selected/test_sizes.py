"""Shapes with sizes that only the running program knows."""

import jax
import jax.numpy as jnp
import pytest

from frontends import tf
from frontends.tf.selected import SelectedShape, common_shape
from frontends.tf.selected.making import masked
from frontends.tf.selected.selection import Selection, SelectionError


def test_items():
    shape = SelectedShape([3, Selection(jnp.asarray([True, False])), 4])
    assert [int(size) for size in shape] == [3, 1, 4]
    assert (len(shape), int(shape[-2]), shape[2:].sizes) == (3, 1, (4,))
    assert repr(shape) == "SelectedShape(3, ?, 4)"
    assert jnp.asarray(shape.__jax_array__()).tolist() == [3, 1, 4]


def test_common_shapes():
    selection = Selection(jnp.asarray([True, False]))
    shape = common_shape([5, 1, 3], SelectedShape([selection, 1]))
    assert shape.sizes == (5, selection, 3)
    assert common_shape(shape, [1, 3]).sizes == (5, selection, 3)
    with pytest.raises(SelectionError):
        common_shape(shape, [2, 3])
    with pytest.raises(ValueError, match="3 and 4"):
        common_shape(shape, [4])


def test_arrays_of_a_shape():
    def compute(x, mask):
        shape = tf.shape(masked(x, mask))
        made = tf.ones(shape) + tf.fill(shape, 2.0) + tf.zeros(shape)
        return tf.reduce_sum(made), tf.reduce_sum(tf.broadcast_to(x[:1], shape))

    found = jax.jit(compute)(jnp.ones([3, 2]), jnp.asarray([True, False, True]))
    assert [float(one) for one in found] == [12, 4]
