"""A TPU library that is installed."""

import importlib.machinery
import importlib.util

import pytest


@pytest.fixture
def libtpu(monkeypatch):
    """Lets libtpu be found, but not imported."""
    found = importlib.util.find_spec
    spec = importlib.machinery.ModuleSpec("libtpu", None)
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: spec if name == "libtpu" else found(name)
    )
