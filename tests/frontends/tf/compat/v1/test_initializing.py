"""Operations that initialize, and need not."""

import pytest

from frontends import tf
from frontends.tf.graph import Graph, Operation


@pytest.mark.parametrize(
    "name",
    [
        "global_variables_initializer",
        "initialize_all_variables",
        "local_variables_initializer",
        "tables_initializer",
    ],
)
def test_they_have_no_effect(name):
    make = getattr(tf, name)
    assert make is getattr(tf.compat.v1, name)
    assert make() is None
    with Graph().as_default() as graph:
        operation = tf.group(make())
        assert isinstance(operation, Operation)
        assert all(one.effect is None for one in graph.operations_of(operation))
        tf.train.Scaffold(init_op=operation, local_init_op=make())


def test_nothing_is_to_be_done():
    v1 = tf.compat.v1
    assert v1.variables_initializer([tf.Variable(1.0)]) is None
    assert v1.is_variable_initialized(tf.Variable(1.0))
    assert v1.resource_variables_enabled()
    assert v1.executing_eagerly_outside_functions()


def test_operations_are_among_the_initializers_too():
    v1 = tf.compat.v1
    assert v1.initializers.variables is v1.variables_initializer
    assert v1.initializers.global_variables is v1.global_variables_initializer
