"""Metrics of probabilities, against numbers that TensorFlow 2.21 gave in graph mode."""

import pytest

from tests.frontends.tf.compat.v1.metrics.cases import CASES, ON_ONE_REPLICA
from tests.frontends.tf.compat.v1.metrics.replay import check

_NAMES = [
    name
    for name in CASES
    if name.startswith("auc") or ("_at_" in name and name not in ON_ONE_REPLICA)
]


@pytest.mark.parametrize(("replicas", "weighted"), [(1, False), (1, True), (2, True)])
def test_values_are_tensorflows(replicas, weighted):
    check(_NAMES, replicas, weighted)
