"""Metrics of each class, against numbers that TensorFlow 2.21 gave in graph mode."""

import pytest

from tests.frontends.tf.compat.v1.metrics.replay import check

_NAMES = ["mean_per_class_accuracy", "mean_iou"]


@pytest.mark.parametrize(("replicas", "weighted"), [(1, False), (1, True), (2, True)])
def test_values_are_tensorflows(replicas, weighted):
    check(_NAMES, replicas, weighted)
