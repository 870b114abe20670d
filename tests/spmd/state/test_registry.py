"""Adapters are registered once, when their library is imported, whichever thread asks first."""

import sys
import threading
import types

import pytest

from spmd.state import registry


@pytest.fixture
def table(monkeypatch):
    """An empty table, with one library that the process has imported and whose integration is slow to load."""
    monkeypatch.setattr(registry, "_ADAPTERS", [])
    monkeypatch.setattr(registry, "_INTEGRATIONS", {"a_library": ("last", "an_integration")})
    monkeypatch.setitem(sys.modules, "a_library", types.SimpleNamespace(last=1))
    integration = types.SimpleNamespace(register=lambda: registry.register_adapter(Adapter()))
    monkeypatch.setitem(sys.modules, "an_integration", integration)
    return integration


class Adapter:
    def owns(self, thing):
        return thing == "its own"


def test_threads_wait_for_the_one_that_registers(table):
    begun, register, counts = threading.Event(), table.register, []

    def slowly():
        begun.set()
        for thread in others:
            thread.start()
        others[0].join(0.05)
        register()

    table.register = slowly
    others = [
        threading.Thread(target=lambda: counts.append(len(registry.adapters()))) for _ in range(8)
    ]
    registry.adapters()
    for thread in others:
        thread.join()
    assert begun.is_set()
    assert counts == [1] * 8
    assert registry.adapter_of("its own") is not None


def test_a_second_registration_changes_nothing(table):
    (first,) = registry.adapters()
    table.register()
    assert registry.adapters() == [first]


def test_an_integration_may_ask_for_adapters_while_it_loads(table):
    register, seen = table.register, []
    table.register = lambda: (seen.append(list(registry.adapters())), register())
    assert len(registry.adapters()) == 1
    assert seen == [[]]


def test_an_import_that_fails_fails_the_next_time_as_well(table):
    def fails():
        raise ImportError("broken")

    register, table.register = table.register, fails
    for _ in range(2):
        with pytest.raises(ImportError, match="broken"):
            registry.adapters()
    table.register = register
    assert len(registry.adapters()) == 1


def test_a_library_that_is_being_imported_waits(table, monkeypatch):
    monkeypatch.setitem(sys.modules, "a_library", types.SimpleNamespace())
    assert registry.adapters() == []
