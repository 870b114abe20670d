"""Layers of pictures give what tf_slim gives, with variables of its names."""

import json

import numpy as np
import pytest

from frontends import tf
from frontends.tf.graph import Graph
from tests.frontends.tf.contrib.record_slim import DATA, PICTURES, results, waves

RECORDED = json.loads(DATA.read_text())
layers = tf.contrib.layers


def test_values_and_names_are_those_of_slim():
    with Graph().as_default():
        found = results(tf.contrib.slim)
        names = [one.name.removesuffix(":0") for one in tf.trainable_variables()]
    assert names == RECORDED["names"]
    assert found.keys() == RECORDED["values"].keys()
    for name, value in found.items():
        expected = RECORDED["values"][name]
        np.testing.assert_allclose(value, expected, rtol=1e-4, atol=3e-5, err_msg=name)


@pytest.mark.parametrize("name", ["separable_conv2d", "conv2d_transpose"])
def test_channels_first(name):
    layer = getattr(layers, name)
    options = {"weights_initializer": waves, "biases_initializer": waves, "padding": "VALID"}
    with Graph().as_default() as graph:
        expected = layer(PICTURES, 2, 3, scope="a", **options)
        found = layer(
            *(PICTURES.transpose(0, 3, 1, 2), 2, 3),
            data_format="NCHW",
            scope="a",
            reuse=True,
            outputs_collections="made",
            **options,
        )
        assert graph.collections["made"] == [found]
    np.testing.assert_allclose(tf.transpose(found, [0, 2, 3, 1]), expected, rtol=1e-5, atol=1e-6)


def test_arguments_reach_normalizers_and_collections():
    with Graph().as_default() as graph:
        options = {"normalizer_fn": layers.batch_norm, "scope": "a", "trainable": False}
        layers.separable_conv2d(
            *(PICTURES, 2, 3),
            weights_regularizer=layers.l2_regularizer(0.1),
            variables_collections={"weights": ["mine"]},
            **options,
        )
        names = [one.name for one in graph.collections["mine"]]
        assert names == ["a/depthwise_weights:0", "a/pointwise_weights:0"]
        assert len(graph.collections[tf.GraphKeys.REGULARIZATION_LOSSES]) == 2
    with pytest.raises(ValueError, match=r"separable_conv2d: .* rank 4, got shape \(5, 6, 3\)"):
        layers.separable_conv2d(PICTURES[0], 2, 3)
