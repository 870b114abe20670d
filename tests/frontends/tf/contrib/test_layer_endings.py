"""What layers end with."""

import numpy as np

from frontends import tf
from frontends.tf.contrib.layer_endings import Ending
from frontends.tf.graph import Graph

X = np.ones((1, 2, 2, 3), np.float32)


def test_biases_give_way_to_a_normalizer():
    def ending(normalizer):
        halved = {"by": 2} if normalizer else None
        twos = tf.compat.v1.constant_initializer(2.0)
        return Ending(tf.negative, normalizer, halved, twos, None, True, None)

    with Graph().as_default():
        assert (ending(lambda x, by: x / by).of(X, "NHWC") == -0.5).all()
        assert (ending(None).of(X, "NHWC") == -3.0).all()
        assert [one.shape for one in tf.trainable_variables()] == [[3]]
