"""Metrics of each class, against numbers that TensorFlow 2.21 gave in graph mode."""

import pytest

from frontends.tf.compat.v1.metrics import _streaming_confusion_matrix
from frontends.tf.graph import Graph, VariableStore
from tests.frontends.tf.compat.v1.metrics.replay import check

_NAMES = ["mean_per_class_accuracy", "mean_iou"]


@pytest.mark.parametrize(("replicas", "weighted"), [(1, False), (1, True), (2, True)])
def test_values_are_tensorflows(replicas, weighted):
    check(_NAMES, replicas, weighted)


def test_a_matrix_adds_up():
    store = VariableStore()
    for labels, predictions in (([0, 1, 1], [0, 1, 0]), ([1, 0, 0], [1, 1, 0])):
        with Graph(store).as_default() as graph:
            matrix, update = _streaming_confusion_matrix(labels, predictions, 2, [1.0, 1.0, 0.5])
            graph.run(update)
    assert graph.value_of(matrix).tolist() == [[1.5, 1.0], [0.5, 2.0]]
