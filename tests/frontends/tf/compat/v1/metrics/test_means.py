"""Metrics that are weighted means, against numbers that TensorFlow 2.21 gave in graph mode."""

import pytest

from tests.frontends.tf.compat.v1.metrics.replay import check

_NAMES = [
    "mean",
    "mean_tensor",
    "percentage_below",
    "mean_cosine_distance",
    "mean_relative_error",
    "mean_absolute_error",
    "mean_squared_error",
    "root_mean_squared_error",
    "accuracy",
]


@pytest.mark.parametrize(("replicas", "weighted"), [(1, False), (1, True), (2, True)])
def test_values_are_tensorflows(replicas, weighted):
    check(_NAMES, replicas, weighted)
