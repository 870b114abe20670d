"""Variables and optimizers by name."""

from frontends.tf.graph import VariableStore


def test_an_object_is_made_once():
    store = VariableStore()
    first = store.object("Adam", list)
    assert store.object("Adam", dict) is first
    assert store.object("Adam_1", dict) == {}
