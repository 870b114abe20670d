"""Right and wrong decisions, against numbers that TensorFlow 2.21 gave in graph mode."""

import pytest

from tests.frontends.tf.compat.v1.metrics.replay import check

_NAMES = [
    "precision",
    "recall",
    "true_positives",
    "true_negatives",
    "false_positives",
    "false_negatives",
]


@pytest.mark.parametrize(("replicas", "weighted"), [(1, False), (1, True), (2, True)])
def test_values_are_tensorflows(replicas, weighted):
    check(_NAMES, replicas, weighted)
