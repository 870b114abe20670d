"""What Keras's variables show to users."""

from typing import Any

import keras
import numpy as np
import pytest

from frontends import tf
from frontends.tf.keras._variable_view import IN_OPTIMIZER, full_name
from frontends.tf.keras._weights import as_weight
from spmd.assigned import assigned


def test_a_type_is_a_name_with_attributes():
    variable: Any = keras.Variable([1.0])
    assert variable.dtype.base_dtype is tf.float32
    assert variable.dtype.is_floating
    assert variable.dtype == "float32"
    assert str(variable.dtype) == f"{variable.dtype}" == "float32"
    assert variable.dtype == tf.float32
    assert np.zeros(1, variable.dtype).dtype == tf.zeros(1, variable.dtype).dtype == np.float32
    name = "nothing"
    with pytest.raises(AttributeError, match=name):
        _ = getattr(variable.dtype, name)


def test_names_are_full_in_optimizers():
    layer = tf.keras.layers.Dense(1, name="dense")
    layer.build((None, 1))
    assert layer.kernel.name == "kernel"
    with assigned(IN_OPTIMIZER, True):
        assert layer.kernel.name == "dense/kernel:0"
    assert full_name(as_weight(tf.Variable(1.0, name="a/b"))) == "a/b:0"


def test_rows_are_scattered_and_what_has_no_effect_is_taken():
    variable = keras.Variable([[1.0], [2.0]])
    rows = tf.IndexedSlices(tf.constant([[0.5], [8.0]]), [1, 2])
    assert variable.scatter_add(rows) is variable
    variable.scatter_sub(tf.IndexedSlices(tf.constant([[4.0]]), [0]), use_locking=True)
    assert variable.numpy().tolist() == [[-3.0], [2.5]]
    variable.scatter_update(rows)
    variable.assign_add([[1.0], [1.0]], use_locking=False)
    variable.assign_sub([[0.0], [0.5]], use_locking=False, read_value=False)
    assert variable.numpy().tolist() == [[-2.0], [1.0]]
