"""Cells that go through all steps of sequences in one call, against the loop of `tf.nn`."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf.graph import Graph

v1, rnn = tf.compat.v1, tf.contrib.rnn
X = np.sin(np.arange(24, dtype=np.float32)).reshape(3, 2, 4)


@pytest.fixture(autouse=True)
def graph():
    with Graph().as_default() as made:
        yield made


def by_loop(graph, x, lengths, start=None):
    """Shares the variables of the fused cell."""
    variables = graph.store.variables
    cell = v1.nn.rnn_cell.BasicLSTMCell(5)
    dtype = None if start else tf.float32
    v1.nn.dynamic_rnn(cell, x, lengths, start, dtype, time_major=True)
    for name in ("kernel", "bias"):
        own = variables[f"rnn/basic_lstm_cell/{name}"]
        graph.run(own.assign(variables[f"lstm_fused_cell/{name}"]))
    return v1.nn.dynamic_rnn(cell, x, lengths, start, dtype, time_major=True)


def same(ours, theirs):
    for one, other in zip(tf.nest.flatten(ours), tf.nest.flatten(theirs), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("lengths", [None, [1, 3]])
def test_numbers_are_those_of_the_loop(graph, lengths):
    cell = rnn.LSTMBlockFusedCell(5)
    found = cell(X, dtype=tf.float32, sequence_length=lengths)
    assert cell.num_units == 5
    assert sorted(graph.store.variables) == ["lstm_fused_cell/bias", "lstm_fused_cell/kernel"]
    same(found, by_loop(graph, X, lengths))


def test_a_state_goes_on(graph):
    cell = rnn.LSTMBlockFusedCell(5)
    _, state = cell(X[:2], dtype=tf.float32)
    outputs, last = cell(X[2:], state)
    whole, end = by_loop(graph, X, None)
    same((outputs, last), (whole[2:], end))
    with pytest.raises(ValueError, match="you must give a dtype"):
        cell(X)


def test_backwards_each_row_begins_at_its_end(graph):
    lengths = [1, 3]
    cell = rnn.TimeReversedFusedRNN(rnn.LSTMBlockFusedCell(5))
    outputs, state = cell(X, dtype=tf.float32, sequence_length=lengths)
    assert not np.any(outputs[1:, 0])
    same(outputs[0], state.h)
    turned = X.copy()
    turned[:, 1] = X[::-1, 1]
    forward, last = by_loop(graph, turned, lengths)
    same((outputs[:, 1], state), (forward[::-1, 1], last))


def test_backwards_without_lengths(graph):
    outputs, _ = rnn.TimeReversedFusedRNN(rnn.LSTMBlockFusedCell(5))(X, dtype=tf.float32)
    same(outputs[::-1], by_loop(graph, X[::-1], None)[0])


def test_each_cell_has_variables_of_its_own(graph):
    with v1.variable_scope("both"):
        for _ in range(2):
            rnn.LSTMBlockFusedCell(5)(X, dtype=tf.float32)
    scopes = {name.rpartition("/")[0] for name in graph.store.variables}
    assert scopes == {"both/lstm_fused_cell", "both/lstm_fused_cell_1"}
