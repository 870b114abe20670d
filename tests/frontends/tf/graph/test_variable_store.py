"""Variables by name."""

import copy

from frontends import tf
from frontends.tf.graph import Graph, VariableStore


def test_a_store_forgets_everything():
    store = VariableStore()
    with Graph(store).as_default():
        tf.Variable(1.0, collections=["local_variables"])
    assert store.variables
    assert store.local
    store.clear()
    assert (store.variables, store.local) == ({}, set())


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
