"""Functions of networks with the parameters of TensorFlow 1; recorded cases hold their numbers to TensorFlow's."""

import numpy as np
import pytest

from frontends import tf

v1 = tf.compat.v1


def test_parameters_stand_where_tensorflow_1_has_them():
    x = np.ones((4, 4), np.float32)
    assert set(np.unique(v1.nn.dropout(x, 0.5))) <= {0.0, 2.0}
    with pytest.raises(ValueError, match="`rate` must be provided"):
        v1.nn.dropout(x)
    images = np.ones((1, 4, 4, 1), np.float32)
    window = [1, 2, 2, 1]
    assert v1.nn.avg_pool(images, window, window, "SAME").shape == (1, 2, 2, 1)
    assert v1.nn.conv2d(images, np.ones((2, 2, 1, 3)), [1, 1, 1, 1], "SAME", True).shape[-1] == 3
    assert tf.nn.relu_layer(x, -x, x[0]).max() == 0


def test_rows_of_divided_tables_are_those_of_the_whole():
    table = np.arange(14, dtype=np.float32).reshape(7, 2)
    ids = np.array([[6, 0], [3, 4]])
    turns = [table[0::3], table[1::3], table[2::3]]
    assert np.array_equal(v1.nn.embedding_lookup(turns, ids), table[ids])
    parts = [table[:3], table[3:5], table[5:]]
    assert np.array_equal(v1.nn.embedding_lookup(parts, ids, "div"), table[ids])
    with pytest.raises(ValueError, match="Unrecognized partition strategy"):
        v1.nn.embedding_lookup(parts, ids, "other")


def test_all_other_names_are_those_of_tensorflow_2():
    assert v1.nn.relu is tf.nn.relu
    assert v1.nn.rnn_cell is tf.nn.rnn_cell
