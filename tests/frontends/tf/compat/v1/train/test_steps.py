"""The global step."""

import pytest

from frontends import tf
from frontends.tf.graph import Graph

v1 = tf.compat.v1
train = v1.train


def test_a_graph_has_one_global_step():
    with Graph().as_default() as graph, v1.variable_scope("model"):
        assert train.get_global_step() is None
        step = train.create_global_step()
        assert train.get_or_create_global_step() is step
        with pytest.raises(ValueError, match='"global_step" already exists'):
            train.create_global_step()
        assert (step.name, step.shape.as_list(), step.trainable) == ("global_step:0", [], False)
        assert step.dtype.is_integer
        assert step.aggregation is tf.VariableAggregation.ONLY_FIRST_REPLICA
        for key in (v1.GraphKeys.GLOBAL_STEP, v1.GraphKeys.GLOBAL_VARIABLES):
            assert [one.name for one in v1.get_collection(key)] == [step.name]
        assert v1.trainable_variables() == []
    assert train.get_global_step(graph) is step
    assert train.global_step(None, step) == 0
    other = Graph()
    assert train.get_or_create_global_step(other) is other.store.variables["global_step"]


def test_another_graph_of_the_store_finds_the_count():
    first = Graph()
    train.create_global_step(first).assign(7)
    with Graph(first.store).as_default():
        assert int(train.get_or_create_global_step()) == 7


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (tf.Variable(0.0), "does not have integer type"),
        (tf.Variable([0]), "is not scalar"),
        (0, "must be a Variable or Tensor"),
    ],
)
def test_what_cannot_count_is_refused(wrong, message):
    train.assert_global_step(tf.Variable(0))
    train.assert_global_step(tf.constant(0))
    with pytest.raises(TypeError, match=message):
        train.assert_global_step(wrong)
