"""Variables beside others."""

import jax
import keras
import numpy as np

import spmd
from frontends import tf
from frontends.tf.compat.v1 import slots
from frontends.tf.graph import Graph

v1 = tf.compat.v1


def test_a_slot_is_named_after_its_variable_and_found_again():
    weight, first = tf.Variable(1.0, name="dense/kernel"), Graph()
    with first.as_default(), v1.variable_scope("training"):
        made = [slots.make_slot(first, weight, "Adam", lambda: tf.ones([2])) for _ in range(2)]
        whole = slots.make_unseen(first, "power", lambda: 0.9)
        assert v1.global_variables() == [*made, whole]
    names = [one.name for one in (*made, whole)]
    assert names == ["training/dense/kernel/Adam:0", "training/dense/kernel/Adam_1:0", "power:0"]
    assert not any(one.trainable for one in made)
    second = Graph(first.store)
    with second.as_default(), v1.variable_scope("training"):
        assert slots.make_slot(second, "dense/kernel", "Adam", lambda: 1 / 0) is made[0]


def test_who_makes_a_slot_says_where_it_lives():
    bound, graph = [], Graph()
    slot = slots.make_slot(graph, "w", "Adam", lambda: 0.0, bound.append)
    assert bound == [slot]
    slots.make_slot(Graph(graph.store), "w", "Adam", lambda: 0.0, bound.append)
    assert bound == [slot]


def test_names_and_values_of_variables_of_both_libraries():
    ours, theirs = tf.Variable(1.0, name="a/b"), keras.Variable(2.0, name="c")
    assert (slots.name_of(ours), slots.name_of(theirs)) == ("a/b", "c")
    assert (float(slots.value_of(ours)), float(slots.value_of(theirs))) == (1, 2)
    slots.write(ours, 3.0)
    slots.write(theirs, 4.0)
    assert (float(slots.value_of(ours)), float(slots.value_of(theirs))) == (3, 4)


def test_the_value_outside_of_a_step_that_changes_it():
    variable, found = tf.Variable([1.0, 2.0]), []

    def step():
        variable.assign(variable * 2)
        assert isinstance(variable.value(), jax.core.Tracer)
        found.append(np.asarray(slots.value_outside(variable)))

    spmd.Step(step, spmd.make_mesh(["cpu:0"]))()
    np.testing.assert_array_equal(found[0], [1, 2])
    np.testing.assert_array_equal(slots.value_outside(variable), [2, 4])
