"""Dropout, one-hot rows, and tables."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf.graph import Graph

layers = tf.contrib.layers


def test_small_layers():
    with Graph().as_default():
        ones = np.ones((40, 5), np.float32)
        np.testing.assert_array_equal(layers.dropout(ones, is_training=False), ones)
        assert set(np.unique(layers.dropout(ones, keep_prob=0.8))) == {0, 1.25}
        assert layers.one_hot_encoding([1, 0], 3, 2.0).tolist() == [[0, 2, 0], [2, 0, 0]]
        found = layers.embed_sequence([[1, 0]], 4, 3, initializer=tf.ones_initializer())
        again = layers.embed_sequence([2], scope="EmbedSequence", reuse=True)
        assert (found.shape, again.tolist()) == ((1, 2, 3), [[1, 1, 1]])
        assert [one.name for one in tf.trainable_variables()] == ["EmbedSequence/embeddings:0"]
        with pytest.raises(ValueError, match="Must specify vocab size"):
            layers.embed_sequence([2], 4)


def test_softmax_is_along_the_last_axis():
    x = np.arange(12, dtype=np.float32).reshape(2, 2, 3)
    np.testing.assert_allclose(layers.softmax(x), tf.nn.softmax(x), rtol=1e-6)
    with pytest.raises(ValueError, match="at least 2 not: 1"):
        layers.softmax(x[0, 0])
