"""A layer several times: the scopes of its calls. Values are compared in test_more_convolutions.py."""

import functools

import pytest

from frontends import tf
from frontends.tf.graph import Graph

layers = tf.contrib.layers
X = [[1.0, 2.0]]


def test_scopes_are_numbered():
    with Graph().as_default():
        layers.repeat(X, 2, layers.fully_connected, 3, scope="fc")
        layers.stack(X, functools.partial(layers.fully_connected), [4, (5,)])
        names = [one.name for one in tf.trainable_variables() if "weights" in one.name]
    assert names == [
        *("fc/fc_1/weights:0", "fc/fc_2/weights:0"),
        *("Stack/fully_connected_1/weights:0", "Stack/fully_connected_2/weights:0"),
    ]


def test_arguments_are_a_list():
    with pytest.raises(ValueError, match=r"got int. Write \[3\]"):
        layers.stack(X, layers.fully_connected, 3)
