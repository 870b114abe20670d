"""Layers of `tf.contrib.layers` for pictures."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf.graph import Graph

layers = tf.contrib.layers
X = np.sin(np.arange(2 * 6 * 6 * 3)).reshape(2, 6, 6, 3).astype(np.float32)


@pytest.mark.parametrize("format_", ["NHWC", "NCHW"])
def test_a_convolution_is_that_of_tf_nn(format_):
    with Graph().as_default() as graph:
        x = X if format_ == "NHWC" else X.transpose(0, 3, 1, 2)
        y = layers.conv2d(
            x,
            4,
            [3, 2],
            stride=2,
            data_format=format_,
            biases_initializer=tf.constant_initializer(0.5),
            weights_regularizer=layers.l2_regularizer(0.1),
            outputs_collections="made",
        )
        weights, biases = tf.trainable_variables()
        assert [weights.name, biases.name] == ["Conv/weights:0", "Conv/biases:0"]
        assert tf.get_collection("made") == [y]
        expected = tf.nn.relu(tf.nn.conv2d(X, weights, [1, 2, 2, 1], "SAME") + 0.5)
        y = y if format_ == "NHWC" else tf.transpose(y, [0, 2, 3, 1])
        np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-6)
        (penalty,) = graph.collections[tf.GraphKeys.REGULARIZATION_LOSSES]
        np.testing.assert_allclose(penalty, 0.1 * tf.nn.l2_loss(weights), rtol=1e-6)
        layers.conv2d(X, 4, 3, normalizer_fn=layers.batch_norm, scope="again", trainable=False)
        assert len(tf.trainable_variables()) == 3  # with beta


def test_pooling():
    with Graph().as_default():
        np.testing.assert_array_equal(
            layers.max_pool2d(X, 2), X.reshape(2, 3, 2, 3, 2, 3).max((2, 4))
        )
        first = X.transpose(0, 3, 1, 2)
        found = layers.avg_pool2d(first, [2, 2], padding="SAME", data_format="NCHW")
        expected = X.reshape(2, 3, 2, 3, 2, 3).mean((2, 4)).transpose(0, 3, 1, 2)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("x", "format_", "message"),
    [(X[0], None, r"rank 4, got shape \(6, 6, 3\)"), (X, "CHWN", "Write 'NHWC' or 'NCHW'")],
)
def test_pictures_have_four_dimensions(x, format_, message):
    with Graph().as_default(), pytest.raises(ValueError, match=message):
        layers.conv2d(x, 4, 3, data_format=format_)
