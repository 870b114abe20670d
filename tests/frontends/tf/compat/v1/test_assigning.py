"""Assigning by functions."""

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
