"""The store of a process that is alone; tests/multiprocess/cluster asks the shared one."""

import pytest

from spmd.cluster import store
from spmd.errors import StoreKeyError


@pytest.fixture(autouse=True)
def _empty(monkeypatch):
    monkeypatch.setattr(store, "_alone", {})


def test_what_was_stored_is_read():
    store.put("a", "1")
    assert store.peek("a") == "1"


def test_a_key_is_used_once():
    store.put("a", "1")
    with pytest.raises(StoreKeyError, match="'a' is stored already"):
        store.put("a", "1")


def test_what_nobody_stored():
    assert store.peek("a") is None


def test_one_process_gathers_from_itself():
    assert [store.all_gather_small("a", text, 1.0) for text in "xy"] == [("x",), ("y",)]
