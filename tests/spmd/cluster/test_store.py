"""The store of one process, and that of a cluster over a client that a test plays; tests/multiprocess has a real one."""

import threading

import jax
import pytest

from spmd.cluster import runtime
from spmd.cluster import store as module
from spmd.cluster.store import CoordinationStore, LocalStore
from spmd.errors import ClusterWaitError, StoreKeyError


class Client:
    """The coordination service, as far as one process sees it; no wait lasts."""

    def __init__(self):
        self.texts = {}

    def key_value_set(self, key, text):
        if key in self.texts:
            raise jax.errors.JaxRuntimeError(f"ALREADY_EXISTS: {key}")
        self.texts[key] = text

    def key_value_try_get(self, key):
        return self._get(key, "NOT_FOUND")

    def blocking_key_value_get(self, key, milliseconds):
        assert milliseconds >= 1
        return self._get(key, "DEADLINE_EXCEEDED")

    def key_value_delete(self, key):
        del self.texts[key]

    def _get(self, key, error):
        if key not in self.texts:
            raise jax.errors.JaxRuntimeError(f"{error}: {key}")
        return self.texts[key]


@pytest.fixture
def client(monkeypatch):
    """Of the second of two processes."""
    monkeypatch.setattr(runtime, "process_id", lambda: 1)
    monkeypatch.setattr(runtime, "task_names", lambda: ("chief 0", "worker 0"))
    return Client()


@pytest.mark.parametrize("make", [lambda _: LocalStore(), CoordinationStore])
def test_a_key_is_used_once(make, client):
    store = make(client)
    assert store.peek("a") is None
    store.put("a", "1")
    assert store.peek("a") == "1"
    with pytest.raises(StoreKeyError, match="'a' is stored already"):
        store.put("a", "1")


def test_one_process_gathers_from_itself():
    assert [module.all_gather_small("a", text, 1.0) for text in "xy"] == [("x",), ("y",)]


def test_rounds_of_one_key_are_counted_and_read_texts_deleted(client):
    store = CoordinationStore(client)
    for number in (1, 2):
        client.texts[f"jaxtribute/steps/{number}/0"] = f"{number}"
        assert store.gather("steps", f"mine {number}", 60.0, None) == (
            f"{number}",
            f"mine {number}",
        )
    assert "jaxtribute/steps/1/1" not in client.texts
    assert "jaxtribute/steps/2/1" in client.texts


def test_who_is_missing_is_named(client):
    with pytest.raises(
        ClusterWaitError, match=r"worker 0 waited 0.01 s for chief 0.*1 did"
    ) as caught:
        CoordinationStore(client).gather("steps", "mine", 0.01, None)
    assert caught.value.missing == ("chief 0",)


def test_a_wait_that_is_not_wanted_ends(client):
    with pytest.raises(ClusterWaitError):
        CoordinationStore(client).gather("steps", "mine", 1e6, lambda: False)


def test_a_replacement_counts_for_all_threads(store):
    store.answer = lambda key, text: ("other", text)
    found = []
    thread = threading.Thread(target=lambda: found.append(module.all_gather_small("a", "mine")))
    thread.start()
    thread.join()
    assert found == [("other", "mine")]
    assert store.keys == ["a"]
