"""Which variable holds the value that a Keras variable shows."""

import keras
import numpy as np

from spmd.integrations.keras.storage import storage_of


def test_a_variable_may_stand_for_another():
    variable = keras.Variable(np.float32(1.0))
    assert storage_of(variable) is variable
    variable.stands_for = other = object()
    assert storage_of(variable) is other
