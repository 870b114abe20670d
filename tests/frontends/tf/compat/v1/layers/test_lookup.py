"""Functions that arguments name."""

import pytest

from frontends import tf
from frontends.tf.compat.v1.layers import lookup


def test_names_and_functions():
    assert lookup.activation_of("relu")(tf.constant([-1.0, 1.0])).tolist() == [0, 1]
    assert lookup.activation_of("hard_sigmoid")(tf.constant([9.0])).tolist() == [1]
    assert isinstance(lookup.initializer_of("he_normal"), tf.compat.v1.initializers.he_normal)
    assert isinstance(lookup.initializer_of("HeNormal"), tf.keras.initializers.HeNormal)
    assert isinstance(lookup.regularizer_of("l2"), tf.keras.regularizers.L2)
    assert isinstance(lookup.constraint_of("non_neg"), tf.keras.constraints.NonNeg)
    for find in (lookup.activation_of, lookup.initializer_of, lookup.regularizer_of):
        assert find(None) is None
        assert find(max) is max


def test_an_unknown_name_is_an_error():
    with pytest.raises(ValueError, match="Could not interpret"):
        lookup.activation_of("rely")
