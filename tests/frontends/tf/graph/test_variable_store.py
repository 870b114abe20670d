"""Variables and optimizers by name."""

import copy

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


def test_writers_stay_in_their_process(tmp_path):
    store = VariableStore()
    store.local.add("seen")
    with (tmp_path / "events").open("wb") as file:
        store.writers[str(tmp_path), ""] = file
        sent = copy.copy(store)  # by what is sent to workers
        assert (sent.local, sent.writers, store.writers) == (
            {"seen"},
            {},
            {(str(tmp_path), ""): file},
        )
