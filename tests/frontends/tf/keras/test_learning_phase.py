"""The learning phase, functions of symbolic tensors, and cells."""

import numpy as np
import pytest

from frontends import tf


def test_the_phase_is_kept():
    backend = tf.keras.backend
    backend.set_learning_phase(1)
    assert backend.learning_phase() == 1
    backend.set_learning_phase(0)
    with pytest.raises(ValueError, match="0 or 1"):
        backend.set_learning_phase(7)


def test_a_function_of_symbolic_tensors():
    x = tf.keras.Input((2,))
    y = tf.keras.layers.Dropout(0.5)(x)
    both = tf.keras.backend.function([x, tf.keras.backend.learning_phase()], [y, y + 1.0])
    ones = np.ones((3, 2), np.float32)
    assert [one.max() for one in both([ones, 0])] == [1, 2]
    assert set(both([ones, 1])[0].ravel()) <= {0, 2}
    with pytest.raises(ValueError, match="symbolic"):
        tf.keras.backend.function([ones], ones)


def test_a_cell():
    class Sums(tf.keras.layers.AbstractRNNCell):
        state_size = output_size = 2

        def call(self, inputs, states):
            total = states[0] + inputs
            return total, [total]

    found = tf.keras.layers.RNN(Sums())(np.ones((1, 3, 2), np.float32))
    assert found.tolist() == [[3, 3]]
