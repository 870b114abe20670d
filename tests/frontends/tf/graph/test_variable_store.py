"""Variables and optimizers by name."""

from frontends import tf
from frontends.tf.graph import Graph, VariableStore


def test_an_object_is_made_once():
    store = VariableStore()
    first = store.object("Adam", list)
    assert store.object("Adam", dict) is first
    assert store.object("Adam_1", dict) == {}


def test_a_store_forgets_everything():
    store = VariableStore()
    store.object("Adam", list)
    with Graph(store).as_default():
        tf.Variable(1.0, collections=["local_variables"])
    assert store.variables
    assert store.local
    store.clear()
    assert (store.variables, store.objects, store.local) == ({}, {}, set())
