"""Layers as functions."""

import inspect

import pytest

from frontends import tf

layers = tf.compat.v1.layers


def test_the_function_has_the_parameters_of_its_class():
    names = list(inspect.signature(layers.conv2d).parameters)
    assert names[:4] == ["inputs", "filters", "kernel_size", "strides"]
    assert names[-3:] == ["trainable", "name", "reuse"]
    assert "reuse" not in inspect.signature(layers.max_pooling2d).parameters
    assert layers.conv2d.__name__ == "conv2d"


def test_what_is_no_parameter_is_an_error():
    with pytest.raises(
        TypeError, match=r"tf\.layers\.dense: got an unexpected keyword argument 'unit'"
    ):
        layers.dense(tf.ones([1, 2]), 3, unit=3)
