"""Initializers and regularizers of TensorFlow 1's contrib; formulas are those of its documentation."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf.graph import Graph

contrib = tf.contrib.layers
WEIGHTS = np.float32([[1, -2], [3, 0]])
SHAPE = (3, 3, 40, 80)  # 360 inputs, 720 outputs


@pytest.mark.parametrize(
    ("made", "variance"),
    [
        (contrib.xavier_initializer(seed=1), 2 / 1080),
        # Its constant for the truncation is rounded: 1.3 * 0.7737 = 1.006.
        (contrib.xavier_initializer_conv2d(uniform=False, seed=1), 1.006 * 2 / 1080),
        (contrib.variance_scaling_initializer(seed=1), 1.006 * 2 / 360),
        (contrib.variance_scaling_initializer(1.0, "FAN_OUT", True, 1), 1 / 720),
    ],
)
def test_initializers(made, variance):
    drawn = made(SHAPE).numpy()
    np.testing.assert_allclose(drawn.var(), variance, rtol=0.03)
    assert np.abs(drawn).max() <= 2.3 * np.sqrt(variance)


def test_regularizers():
    assert float(contrib.l1_regularizer(0.5)(WEIGHTS)) == 3
    assert float(contrib.l2_regularizer(0.5)(WEIGHTS)) == 3.5
    assert float(contrib.l1_l2_regularizer(0.5, 0.5)(WEIGHTS)) == 6.5
    assert float(contrib.l1_l2_regularizer(0.0, 0.5)(tf.Variable(WEIGHTS))) == 3.5
    assert contrib.l1_regularizer(0.0)(WEIGHTS) is None
    assert contrib.l2_regularizer(0.0)(WEIGHTS) is None
    assert contrib.sum_regularizer([None, contrib.l1_regularizer(0.0)])(WEIGHTS) is None


def test_what_does_not_exist_is_an_error():
    with pytest.raises(ValueError, match=r"scale cannot be an integer: 1\. Write 1\.0"):
        contrib.l2_regularizer(1)
    with pytest.raises(ValueError, match=r"less than 0 on a regularizer: -0\.5"):
        contrib.l1_regularizer(-0.5)
    with pytest.raises(ValueError, match="Unknown mode FAN: expected one of"):
        contrib.variance_scaling_initializer(mode="FAN")
    with pytest.raises(AttributeError, match=r"use tf\.contrib\.layers\.layer_norm"):
        _ = contrib.instance_norm


def test_fully_connected():
    inputs = np.ones((2, 5, 3), np.float32)
    with Graph().as_default():
        penalty = contrib.l2_regularizer(1.0)
        first = contrib.fully_connected(inputs, 4, weights_regularizer=penalty)
        second = contrib.fully_connected(
            *(first, 2, None),
            weights_initializer=tf.ones_initializer(),
            biases_initializer=tf.constant_initializer(3.0),
            variables_collections={"biases": ["mine"]},
            outputs_collections="outputs",
            trainable=False,
        )
        with tf.variable_scope("top"):
            contrib.fully_connected(inputs, 4, None, lambda x, by: x * by, {"by": 2}, scope="out")
            contrib.fully_connected(inputs, 4, biases_initializer=None, scope="out", reuse=True)
        names = [variable.name for variable in tf.global_variables()]
        weights, biases = tf.trainable_variables()[:2]
        assert tf.trainable_variables()[2].name == names[-1]
        assert len(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)) == 1
        assert tf.get_collection("mine") == [tf.global_variables()[3]]
        assert tf.get_collection("outputs")[0] is second
    assert names == [
        *("fully_connected/weights:0", "fully_connected/biases:0"),
        *("fully_connected_1/weights:0", "fully_connected_1/biases:0", "top/out/weights:0"),
    ]
    np.testing.assert_allclose(
        first, np.maximum(inputs @ weights.numpy() + biases.numpy(), 0), rtol=1e-5
    )
    np.testing.assert_allclose(
        second, np.repeat(np.sum(first, -1, keepdims=True) + 3, 2, -1), rtol=1e-5
    )
