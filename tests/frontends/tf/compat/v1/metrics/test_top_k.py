"""Metrics of the best classes, against numbers that TensorFlow 2.21 gave in graph mode."""

import pytest

from tests.frontends.tf.compat.v1.metrics.cases import ON_ONE_REPLICA
from tests.frontends.tf.compat.v1.metrics.replay import check


@pytest.mark.parametrize("weighted", [False, True])
def test_values_are_tensorflows(weighted):
    check(ON_ONE_REPLICA, 1, weighted)
