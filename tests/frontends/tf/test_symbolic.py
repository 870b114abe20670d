"""Which functions of `tf` record calls with symbolic tensors, and what that costs."""

import sys

import keras
import numpy as np
import pytest

from frontends import tf
from frontends.tf import _symbolic


def test_functions_of_every_table_record_themselves():
    x = keras.Input((4, 4, 3))
    for function in (
        tf.identity,
        tf.math.log1p,
        tf.nn.gelu,
        tf.linalg.trace,
        tf.image.flip_up_down,
    ):
        result = function(x)
        assert isinstance(result, keras.KerasTensor), function
        assert result.shape[0] is None
    assert tf.random.normal(tf.shape(x)).shape == (None, 4, 4, 3)


def test_a_function_is_one_in_all_modules():
    assert tf.einsum is tf.linalg.einsum
    assert tf.math.top_k is tf.nn.top_k


def test_symbolic_tensors_are_found_in_structures():
    x = keras.Input((2,))
    assert _symbolic.has_symbolic({"a": [1, (x,)]})
    assert not _symbolic.has_symbolic({"a": [1, (np.ones(2),)]})


def test_errors_of_calls_without_symbolic_tensors_stay_as_they_are():
    with pytest.raises(ValueError, match="must have the same shape"):
        tf.nn.sigmoid_cross_entropy_with_logits(tf.ones(2), tf.ones(3))


def test_an_error_of_a_recorded_call_names_what_is_wrong():
    with pytest.raises(ValueError, match=r"add up to 5, but axis 1"):
        tf.split(keras.Input((4,)), [2, 3], axis=1)


def test_a_failing_call_imports_no_keras(monkeypatch):
    monkeypatch.delitem(sys.modules, "keras")
    with pytest.raises(ValueError, match="unsupported type"):
        tf.nn.relu(object())
    assert "keras" not in sys.modules
