"""Lists by name of what a model function has made."""

import pytest

from frontends import tf
from frontends.tf.graph import Graph

v1 = tf.compat.v1


def test_collections():
    with Graph().as_default():
        _check_collections()


def _check_collections():
    v1.get_variable("w", [2])
    v1.get_variable("frozen", [2], trainable=False)
    v1.get_local_variable("count", [])
    assert [one.name for one in v1.global_variables()] == ["w:0", "frozen:0"]
    assert [one.name for one in v1.trainable_variables()] == ["w:0"]
    assert [one.name for one in v1.local_variables()] == ["count:0"]
    v1.add_to_collection("mine", 1)
    v1.get_collection_ref("mine").append(2)
    assert v1.get_collection("mine") == [1, 2]
    assert [one.name for one in v1.get_collection("variables", "fro")] == ["frozen:0"]


def test_the_default_graph_is_that_of_the_block():
    with Graph().as_default() as graph:
        v1.get_variable("w", [2])
        graph.named(tf.ones([]), "loss")
        assert v1.get_default_graph() is graph
        assert graph.get_tensor_by_name("w:0").name == "w:0"
        assert float(graph.get_tensor_by_name("loss:0")) == 1.0
        with pytest.raises(KeyError, match=r"x:0.* refers to a Tensor which does not exist"):
            graph.get_tensor_by_name("x:0")
        assert [one.name for one in graph.get_collection("variables")] == ["w:0"]


def test_collections_that_nothing_fills_are_empty():
    v1 = tf.compat.v1
    assert v1.get_collection(v1.GraphKeys.TABLE_INITIALIZERS) == []
    assert v1.GraphKeys.VARIABLES == v1.GraphKeys.GLOBAL_VARIABLES
