"""Assigning by functions."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf.graph import Graph

v1 = tf.compat.v1


@pytest.mark.parametrize(
    ("name", "expected"), [("assign", 2.0), ("assign_add", 7.0), ("assign_sub", 3.0)]
)
def test_at_once_and_in_a_model_function(name, expected):
    variable = tf.Variable(5.0)
    assert getattr(v1, name)(variable, 2.0) is variable
    assert float(variable) == expected
    variable.assign(5.0)
    with Graph().as_default() as graph:
        result = getattr(v1, name)(variable, 2.0)
        assert (float(result), float(variable)) == (expected, 5.0)
        graph.run(result)
    assert float(variable) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("scatter_update", [9, 2, 8]),
        ("scatter_add", [10, 2, 11]),
        ("scatter_sub", [-8, 2, -5]),
        ("scatter_mul", [9, 2, 24]),
        ("scatter_div", [1 / 9, 2, 3 / 8]),
        ("scatter_max", [9, 2, 8]),
        ("scatter_min", [1, 2, 3]),
    ],
)
def test_rows(name, expected):
    scatter = getattr(tf, name)
    assert scatter is getattr(v1, name)
    variable = tf.Variable([1.0, 2.0, 3.0])
    np.testing.assert_allclose(scatter(variable, [[0], [2]], [[9], [8]]), expected)
    with Graph().as_default():
        variable = tf.Variable([1.0, 2.0, 3.0])
        np.testing.assert_allclose(scatter(variable, [0, 2], [9.0, 8.0]), expected)


def test_one_row_and_one_number():
    variable = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    v1.scatter_update(variable, 1, [5, 6])
    assert variable.numpy().tolist() == [[1, 2], [5, 6]]
    v1.scatter_add(variable, [0, 1], 1.0)
    assert variable.numpy().tolist() == [[2, 3], [6, 7]]


def test_elements():
    variable = tf.Variable([1.0, 2.0, 3.0])
    tf.scatter_nd_update(variable, [[0]], [7.0])
    tf.scatter_nd_add(variable, [[1]], [7.0])
    tf.scatter_nd_sub(variable, [[2]], [7.0])
    assert variable.numpy().tolist() == [7, 9, -4]
