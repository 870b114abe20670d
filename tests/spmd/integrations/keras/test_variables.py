"""Keras variables in a step: one that was not found is an error."""

import keras
import numpy as np
import pytest

import spmd


def test_a_variable_that_the_step_does_not_find_is_an_error(mesh_of):
    layer, variable = keras.layers.Dense(1), keras.Variable(np.float32(1.0), name="lost")
    layer.build((None, 1))
    hidden = {0: layer, 1: variable}.get  # a built-in method, which nobody can look into
    ones = np.ones((2, 1), np.float32)
    for uses in (
        lambda x: hidden(0)(x),
        lambda x: x * hidden(1),
        lambda x: hidden(1).assign(2.0),
        lambda x: hidden(1).assign_add(1.0),
    ):
        with pytest.raises(
            spmd.errors.StateError, match=r"'(lost|dense.*kernel)', which it did not find"
        ):
            spmd.Step(uses, mesh_of(2))(ones)
    assert float(variable.value) == 1.0
    named = spmd.Step(lambda x: x * hidden(1), mesh_of(2), state=[variable])
    assert float(named(ones)[0][0]) == 1.0
    variable.assign(3.0)
    assert float(named(ones)[0][0]) == 3.0
