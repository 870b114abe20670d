"""There is nothing to feed."""

import pytest

from frontends import tf
from tests.frontends.tf.estimator.models import data, linear


def test_what_would_feed_says_what_to_write(tmp_path):
    estimator = tf.estimator.Estimator(linear, tmp_path, params={"rate": 0.1})
    with pytest.raises(NotImplementedError, match="Return the values from input_fn, as features"):
        estimator.train(data(), hooks=[tf.train.FeedFnHook(dict)], steps=1)
