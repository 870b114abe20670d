"""Cells of recurrent networks; recorded cases hold their numbers to TensorFlow's."""

import jax.export
import numpy as np
import pytest

from frontends import tf
from frontends.tf.graph import Graph

rnn_cell = tf.nn.rnn_cell
X = np.ones((2, 3), np.float32)


@pytest.fixture(autouse=True)
def graph():
    with Graph().as_default() as made:
        yield made


def test_a_flat_state_is_a_tuple_side_by_side():
    flat = rnn_cell.BasicLSTMCell(2, state_is_tuple=False, name="c")
    pair = rnn_cell.BasicLSTMCell(2, name="c", reuse=True)
    state = np.arange(8, dtype=np.float32).reshape(2, 4) / 8
    output, new = flat(X, state)
    same, (c, h) = pair(X, rnn_cell.LSTMStateTuple(state[:, :2], state[:, 2:]))
    np.testing.assert_allclose(output, same)
    np.testing.assert_allclose(new, np.concatenate([c, h], 1))
    assert flat.state_size == 4
    assert flat.zero_state(3, tf.float32).shape == (3, 4)


def test_wrappers_keep_the_names_of_variables(graph):
    cell = rnn_cell.DropoutWrapper(rnn_cell.GRUCell(3), input_keep_prob=1e-6)
    cell = rnn_cell.DeviceWrapper(rnn_cell.ResidualWrapper(cell), "/gpu:0")
    output, state = cell(X, cell.zero_state(2, tf.float32))
    assert {name.split("/")[0] for name in graph.store.variables} == {"gru_cell"}
    # All inputs are dropped, and added to what that gives.
    np.testing.assert_allclose(output, X)
    np.testing.assert_allclose(state, np.zeros((2, 3)))


def test_what_is_not_supported_says_what_to_write():
    with pytest.raises(ValueError, match="noise_shape"):
        rnn_cell.DropoutWrapper(rnn_cell.GRUCell(3), variational_recurrent=True)
    with pytest.raises(ValueError, match="Leave it out"):
        rnn_cell.MultiRNNCell([rnn_cell.GRUCell(3)], state_is_tuple=False)
    with pytest.raises(ValueError, match="at least one cell"):
        rnn_cell.MultiRNNCell([])


def test_an_exported_program_leaves_the_number_of_rows_open(graph):
    def function(x):
        return rnn_cell.LSTMCell(3).zero_state(tf.shape(x)[0], tf.float32)

    (rows,) = jax.export.symbolic_shape("rows")
    x = jax.ShapeDtypeStruct((rows, 2), "float32")
    found = jax.export.export(jax.jit(function))(x)
    assert [one.shape for one in found.out_avals] == [(rows, 3)] * 2
