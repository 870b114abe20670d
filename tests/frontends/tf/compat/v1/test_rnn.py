"""Recurrent networks; recorded cases hold their numbers to TensorFlow's."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf.graph import Graph

v1 = tf.compat.v1
X = np.sin(np.arange(24, dtype=np.float32)).reshape(2, 3, 4)


@pytest.fixture(autouse=True)
def graph():
    with Graph().as_default() as made:
        yield made


def test_both_loops_give_the_same(graph):
    cell = v1.nn.rnn_cell.MultiRNNCell([v1.nn.rnn_cell.BasicLSTMCell(n) for n in (5, 2)])
    outputs, state = v1.nn.dynamic_rnn(cell, X, [1, 3], dtype=tf.float32)
    again, last = v1.nn.static_rnn(cell, tf.unstack(X, axis=1), None, tf.float32, [1, 3])
    np.testing.assert_allclose(outputs, np.stack(again, 1), rtol=1e-6)
    for one, two in zip(tf.nest.flatten(state), tf.nest.flatten(last), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-6)
    assert not np.any(outputs[0, 1:])
    assert sorted(graph.store.variables) == [
        f"rnn/multi_rnn_cell/cell_{index}/basic_lstm_cell/{name}"
        for index in (0, 1)
        for name in ("bias", "kernel")
    ]


def test_both_directions_see_their_end():
    cells = [v1.nn.rnn_cell.BasicRNNCell(2) for _ in range(2)]
    (forward, backward), (_, last) = v1.nn.bidirectional_dynamic_rnn(*cells, X, dtype=tf.float32)
    assert forward.shape == backward.shape == (2, 3, 2)
    np.testing.assert_allclose(backward[:, 0], last, rtol=1e-6)
    steps, _, state = v1.nn.static_bidirectional_rnn(
        *cells, tf.unstack(X, axis=1), dtype=tf.float32
    )
    np.testing.assert_allclose(np.stack(steps, 1)[..., 2:], backward, rtol=1e-6)
    np.testing.assert_allclose(state, last, rtol=1e-6)


def test_zeros_need_a_dtype():
    with pytest.raises(ValueError, match="you must give a dtype"):
        v1.nn.dynamic_rnn(v1.nn.rnn_cell.GRUCell(3), X)
    with pytest.raises(ValueError, match="must not be empty"):
        v1.nn.static_rnn(v1.nn.rnn_cell.GRUCell(3), [])
