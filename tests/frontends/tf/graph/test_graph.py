"""What a call of a model function builds."""

import jax
import jax.numpy as jnp
import pytest

import spmd
from frontends import tf
from frontends.tf.graph import Graph, current_graph, default_graph
from spmd.state import backing_of
from tests.frontends.tf.distribute.coordinator.clusters import strategy as server_strategy


def test_an_operation_runs_once_after_those_before_it_and_only_if_it_is_fetched():
    ran = []
    with Graph().as_default() as graph:
        first = graph.operation("first", lambda: ran.append("first"))
        with tf.control_dependencies([first]):
            second = graph.operation("second", lambda: ran.append("second"))
            tensor = graph.named(jnp.ones(2), "x")
        graph.operation("unused", lambda: ran.append("unused"))
        both = tf.group(second, first)
    assert ran == []
    graph.run({"a": both, "b": [second, jnp.zeros(1)]})
    assert ran == ["first", "second"]
    graph.run(tensor)
    assert ran == ["first", "second", "first"]
    assert graph.tensors["x:0"] is tensor


def test_outside_of_a_graph_code_runs_at_once():
    assert current_graph() is None
    assert tf.group(1, 2) is None
    assert tf.no_op() is None
    with tf.control_dependencies([1]):
        pass


def test_names_are_unique_in_a_graph():
    graph = Graph()
    assert [graph.unique_name(name) for name in ("dense", "dense", "dense_1", "dense")] == [
        "dense",
        "dense_1",
        "dense_1_1",
        "dense_2",
    ]


def test_names_are_those_of_tensorflow_where_a_number_is_taken_or_the_case_differs():
    graph = Graph()
    assert [graph.unique_name(name) for name in ("a", "a_1", "a", "Sum", "sum")] == [
        *("a", "a_1", "a_2", "Sum", "sum_1"),
    ]


def test_a_variable_that_is_read_after_an_operation_has_its_new_value():
    graph = Graph()

    def step():
        with graph.as_default():
            v, w = (tf.Variable(1.0, name=name) for name in "vw")
            add = v.assign_add(2.0)
            with tf.control_dependencies([add]):
                assert v + 0.0 == 3
                assert w + 0.0 == 1
                decay = w.assign_add(v)
            with tf.control_dependencies(None):
                assert v + 0.0 == 1
            assert v + 0.0 == 1
        assert v.numpy() == 1
        graph.run(decay)
        return v, w

    v, w = step()
    assert (v.numpy(), w.numpy()) == (3, 4)


def test_a_value_can_be_computed_later_from_the_state():
    state, graph = [1.0], Graph()
    tensor = graph.with_value(jnp.ones(()), lambda: state[0])
    state[0] = 5.0
    assert graph.value_of(tensor) == 5.0
    assert graph.value_of(7) == 7


def test_a_value_of_a_batch_cannot_be_computed_later():
    def step(batch):
        with pytest.raises(ValueError, match="is computed from a batch"):
            Graph().value_of(batch)
        return batch

    jax.jit(step)(jnp.ones(2))


def test_what_follows_from_the_state_alone_can_be_computed_later():
    graph, large = Graph(), jnp.arange(3.0)

    @jax.jit
    def step(batch):
        total = graph.with_value(batch.sum(), lambda: jnp.float32(4))
        share = tf.where(total > 1, total / 8 + large[2], tf.zeros_like(total))
        kept = [tf.identity(share), jnp.float32(3) + share, share + batch[0]]
        for one in kept:
            graph.keep_value(one)
        return kept

    step(jnp.ones(2))
    assert sorted(float(compute()) for _, compute in graph._values.values()) == [2.5, 4.0, 5.5]


def test_a_tensor_runs_what_it_is_computed_from():
    ran = []

    @jax.jit
    def step(x):
        with Graph().as_default() as graph:
            first = graph.operation("first", lambda: ran.append("first"))
            read = graph.with_effect(x, first)
            chosen = tf.cond(x > 0, lambda: read * 2, lambda: x)
            other = graph.with_effect(x, graph.operation("other", lambda: ran.append("other")))
            graph.run([chosen + 1, x])
            graph.run(tf.group(other - chosen))
        return x

    step(1.0)
    assert ran == ["first", "other", "first"]


def test_a_condition_of_the_running_step_leaves_variables_as_they_are():
    v = tf.Variable(1.0)
    with Graph().as_default() as graph:
        add = v.assign_add(2.0)
    for condition, value in ((False, 1), (True, 3), (None, 5)):
        graph.apply(graph.operations_of(add), condition)
        assert v.numpy() == value


def test_on_servers_a_condition_takes_back_nothing_that_others_have_added():
    with server_strategy(1, 1).scope():
        v = tf.Variable(1.0)
    with Graph().as_default() as graph:
        add = v.assign_add(2.0)

    def step(changes):
        graph.apply(graph.operations_of(add), changes)
        return changes

    run = spmd.Step(step, spmd.make_mesh(["cpu:0"]), state=[v])
    sent = []
    backing = backing_of(v)
    push = type(backing).push

    def seen(self, updates):
        sent.extend((one.verb, float(one.operand)) for one in updates)
        push(self, updates)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(backing), "push", seen)
        for changes in (False, True):
            run(jnp.asarray(changes))
    assert sent == [("add", 0), ("add", 2)]
    assert v.numpy() == 3


def test_hooks_find_the_graph_of_the_steps_and_build_nothing_in_it():
    graph = Graph()
    with graph.as_default():
        x = graph.named(jnp.ones(2), "x")
    with graph.in_session():
        assert (default_graph(), current_graph(), x.name) == (graph, None, "x:0")
    assert default_graph() is not graph


def test_a_collection_is_filtered_by_the_names_of_tensors():
    graph = Graph()
    for name in ("a/loss", "b/loss"):
        graph.collections["losses"].append(graph.named(jnp.ones(2), name))
    assert graph.get_collection("losses", "b/") == [graph.tensors["b/loss:0"]]


def test_effects_see_no_graph():
    seen = []
    with Graph().as_default() as graph:
        graph.run(graph.operation("effect", lambda: seen.append(current_graph())))
        assert current_graph() is graph
    assert seen == [None]


def test_an_identity_has_its_name_and_runs_what_is_before_it():
    ran = []
    with Graph().as_default() as graph:
        with tf.control_dependencies([graph.operation("first", lambda: ran.append("first"))]):
            loss = tf.identity(jnp.float32(2), name="loss")
        assert graph.get_tensor_by_name("loss:0") is loss
        graph.run(loss)
    assert (ran, float(loss)) == (["first"], 2.0)
    assert float(tf.identity(2.0, name="loss")) == 2.0


def test_a_variable_is_found_again_by_its_name():
    first = Graph()
    again = Graph(first.store)
    made = []
    for graph in (first, again):
        with graph.as_default(), tf.name_scope("layer"):
            w = tf.Variable(lambda: tf.ones([2]), name="w")
            made.append((w, tf.Variable(0.0), tf.Variable(1.0, trainable=False)))
    assert [one.name for one in made[0]] == ["layer/w:0", "layer/Variable:0", "layer/Variable_1:0"]
    assert all(one is other for one, other in zip(*made, strict=True))
    for graph in (first, again):
        assert list(map(id, graph.collections["variables"])) == list(map(id, made[0]))
        assert list(map(id, graph.collections["trainable_variables"])) == list(map(id, made[0][:2]))


def test_a_variable_takes_no_name_of_get_variable():
    with Graph().as_default() as graph:
        first = tf.compat.v1.get_variable("w", [1])
        local = tf.Variable(2.0, name="w", collections=["local_variables"])
    assert (first.name, local.name) == ("w:0", "w_1:0")
    assert (list(graph.store.saved()), graph.collections["local_variables"]) == (["w"], [local])


def test_outside_of_a_graph_each_variable_is_another():
    assert tf.Variable(1.0, name="w") is not tf.Variable(1.0, name="w")
