"""Variables by name."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf.graph import Graph

v1 = tf.compat.v1


@pytest.fixture(autouse=True)
def graph():
    with Graph().as_default() as made:
        yield made


def test_names_are_those_of_the_scopes():
    with v1.variable_scope("a"):
        first = v1.get_variable("w", [2, 3])
        with v1.variable_scope("b"), v1.variable_scope("c", reuse=v1.AUTO_REUSE) as scope:
            second = v1.get_variable("w", [4])
    with v1.variable_scope(scope):
        third = v1.get_variable("w")
    assert [first.name, second.name] == ["a/w:0", "a/b/c/w:0"]
    assert third is second
    assert scope.name == "a/b/c"
    assert [one.name for one in scope.global_variables()] == ["a/b/c/w:0"]


def test_default_names_are_unique():
    scopes = []
    for _ in range(2):
        with v1.variable_scope(None, "dense") as scope:
            scopes.append(scope.name)
    assert scopes == ["dense", "dense_1"]


def default_name():
    with v1.variable_scope(None, "dense") as scope:
        return scope.name


def test_a_scope_that_is_entered_again_gives_its_default_names_again():
    with v1.variable_scope("a"):
        assert [default_name(), default_name()] == ["a/dense", "a/dense_1"]
    with v1.variable_scope("a", reuse=True) as scope:
        assert default_name() == "a/dense"
        with v1.variable_scope(scope):
            assert default_name() == "a/dense_1"
        assert default_name() == "a/dense_1"
    with v1.variable_scope(v1.get_variable_scope(), reuse=True):
        assert [default_name(), default_name()] == ["dense", "dense_1"]
    assert default_name() == "dense"
    with v1.variable_scope("dense_1"):
        pass
    assert default_name() == "dense_2"


def test_reuse():
    with v1.variable_scope("a"):
        v1.get_variable("w", [2])
        with pytest.raises(ValueError, match="Variable a/w already exists, disallowed"):
            v1.get_variable("w", [2])
    with v1.variable_scope("a", reuse=True):
        assert v1.get_variable("w", [2]).name == "a/w:0"
        with pytest.raises(ValueError, match="Variable a/x does not exist"):
            v1.get_variable("x", [2])
        with pytest.raises(ValueError, match=r"specified shape \(3,\) and found shape \(2,\)"):
            v1.get_variable("w", [3])
        with v1.variable_scope("b", reuse=False), pytest.raises(ValueError, match="does not exist"):
            v1.get_variable("x", [2])


def test_another_graph_of_the_store_finds_the_values(graph):
    graph.run(v1.get_variable("w", initializer=np.float32(3)).assign(4.0))
    with Graph(graph.store).as_default():
        assert float(v1.get_variable("w", [])) == 4.0
        assert [one.name for one in v1.trainable_variables()] == ["w:0"]


def test_initializers_regularizers_and_types_of_the_scope():
    with v1.variable_scope(
        "a",
        initializer=tf.ones_initializer(),
        regularizer=lambda value: 0.5 * tf.reduce_sum(value),
        dtype=tf.float16,
    ):
        variable = v1.get_variable("w", [2, 2])
        whole = v1.get_variable(
            "n", [2], tf.int32, initializer=tf.zeros_initializer, regularizer=lambda _: None
        )
    assert variable.numpy().tolist() == [[1, 1], [1, 1]]
    assert variable.dtype == tf.float16
    assert whole.numpy().tolist() == [0, 0]
    assert [float(one) for one in v1.get_collection(v1.GraphKeys.REGULARIZATION_LOSSES)] == [2.0]


def test_an_initial_value_has_its_own_type():
    values = {"count": 0, "known": True, "mean": 0.5, "many": np.arange(2)}
    with v1.variable_scope("scope", dtype=tf.float16):
        found = {name: v1.get_variable(name, initializer=one) for name, one in values.items()}
        found["said"] = v1.get_variable("said", dtype=tf.float32, initializer=0)
    with v1.variable_scope("other", initializer=1):
        found["of the scope"] = v1.get_variable("v")
    types = {name: variable.dtype for name, variable in found.items()}
    assert types == {
        "count": tf.int32,
        "known": tf.bool,
        "mean": tf.float32,
        "many": tf.int32,
        "said": tf.float32,
        "of the scope": tf.int32,
    }


def test_a_shape_that_is_not_known_is_an_error():
    with pytest.raises(ValueError, match=r"new variable \(w\) must be fully defined"):
        v1.get_variable("w")
    with pytest.raises(ValueError, match=r"new variable \(w\) must be fully defined"):
        v1.get_variable("w", [None, 2])


def test_names_of_operations_are_new_where_a_scope_is_opened_again():
    found = []
    with Graph().as_default():
        for _ in range(2):
            with v1.variable_scope("layer", reuse=v1.AUTO_REUSE) as scope:
                variable, made = v1.get_variable("w", []), tf.Variable(1.0, name="v")
                found.append((scope.original_name_scope, variable.name, made.name))
        with v1.variable_scope(scope) as again:
            found.append(again.original_name_scope)
    assert found == [
        ("layer/", "layer/w:0", "layer/v:0"),
        ("layer_1/", "layer/w:0", "layer_1/v:0"),
        "layer_2/",
    ]


def test_a_scope_can_reuse_variables_from_some_line_on():
    with Graph().as_default():
        first = v1.get_variable("w", [])
        v1.get_variable_scope().reuse_variables()
        assert v1.get_variable("w", []) is first
    with Graph().as_default(), v1.variable_scope("a") as scope:
        scope.set_initializer(v1.constant_initializer(3.0))
        second = v1.get_variable("w", [])
        assert second.numpy() == 3
        scope.reuse_variables()
        assert v1.get_variable("w", []) is second
    assert v1.get_variable_scope().reuse is False


def test_custom_getters_wrap_one_another():
    seen = []

    def half(getter, name, *args, **kwargs):
        seen.append((name, kwargs["dtype"], kwargs["trainable"]))
        return getter(name, *args, **kwargs) * 0.5

    def named(getter, name, **kwargs):
        return getter(f"{name}_named", **kwargs)

    with Graph().as_default(), v1.variable_scope("a", custom_getter=half):
        with v1.variable_scope("b", custom_getter=named):
            found = v1.get_variable("w", [2], initializer=tf.ones_initializer(), trainable=False)
        y = v1.layers.dense(tf.ones([1, 2]), 1, kernel_initializer=tf.ones_initializer())
        alone = v1.get_variable("v", [1], custom_getter=named)
        names = [one.op.name for one in v1.global_variables()]
    assert found.tolist() == [0.5, 0.5]
    assert y.tolist() == [[1.0]]
    assert alone.op.name == "a/v_named"
    assert names == ["a/b/w_named", "a/dense/kernel", "a/dense/bias", "a/v_named"]
    assert seen[0] == ("a/b/w_named", tf.float32, False)
